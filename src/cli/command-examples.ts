import type { Command } from 'commander';

/** A line to type and what it does. `RUN` and `ITEM` stand for ids, of a run and of something that waits. */
export interface CommandExample {
  readonly line: string;
  readonly does: string;
}

/** Examples for the help of each command. The tests type them in. */
export const COMMAND_EXAMPLES: Readonly<Record<string, readonly CommandExample[]>> = {
  parse: [
    { line: './some-agent | sluice parse --schema issue.schema.json', does: 'the answer from a pipe, checked' },
    {
      line: 'sluice parse answer.txt --profile tagged --allow-partial',
      does: 'only <json> tags; a cut value is closed',
    },
    {
      line: 'sluice parse answer.txt --schema issue.schema.json --align',
      does: '"3" for 3 and other near misses, too',
    },
  ],
  repair: [{ line: 'sluice repair broken.json > mended.json', does: 'as text; nothing is checked' }],
  run: [
    { line: 'sluice run --engine codex --schema issue.schema.json "Find the worst bug."', does: 'an agent, checked' },
    { line: 'sluice run --engine command --schema issue.schema.json -- ./some-agent', does: 'any program' },
    {
      line: 'sluice run --engine codex --timeout 600 --permissions workspace "Fix it."',
      does: 'it may edit files here',
    },
  ],
  translate: [
    { line: 'sluice translate .sluice/runs/RUN', does: 'what happened, as FCMP' },
    { line: 'sluice translate .sluice/runs/RUN --to agui', does: 'for an AG-UI client' },
    { line: 'sluice translate .sluice/runs/RUN --write', does: 'writes the logs of the folder anew' },
  ],
  replay: [{ line: 'sluice replay .sluice/runs/RUN', does: 'does this version still tell the same?' }],
  doctor: [{ line: 'sluice doctor', does: 'what is installed, what to do about the rest' }],
  order: [{ line: 'sluice order request.json', does: 'one order from beginning to end' }],
  inbox: [
    { line: 'sluice inbox', does: 'a line each' },
    { line: "sluice inbox --json --issue 'local#2'", does: 'everything about one issue' },
  ],
  resolve: [
    { line: 'sluice resolve ITEM --action reject --why "nothing shows that it works"', does: 'the issue is blocked' },
  ],
  outbox: [{ line: 'sluice outbox --deliver', does: 'sends what is due, then lists' }],
  executions: [
    { line: 'sluice executions --since 2026-01-01 --csv > audit.csv', does: 'for a spreadsheet' },
    { line: 'sluice executions --decision needs-human --limit 10', does: 'the last ten that a person had to look at' },
  ],
  serve: [
    { line: 'sluice serve --port 8080', does: 'with the bundled demo, on this machine only' },
    { line: 'sluice serve --port 8081 --no-demo --no-worker', does: 'only answers; sluice worker does the work' },
  ],
  worker: [
    { line: 'sluice worker --concurrency 8', does: 'eight things at once' },
    { line: 'sluice worker --takes orders --type codex-cli', does: 'only orders for Codex' },
  ],
  backup: [{ line: 'sluice backup copy.db', does: 'while the server runs' }],
  export: [{ line: 'sluice export RUN fixtures/surprise', does: 'then: sluice replay fixtures/surprise' }],
  demo: [{ line: 'sluice demo --json', does: 'three workers, three ends' }],
  completion: [
    { line: 'source <(sluice completion bash)', does: 'for this shell; in ~/.bashrc for all' },
    { line: 'sluice completion zsh > _sluice', does: 'into a folder of $fpath' },
    { line: 'sluice completion fish > sluice.fish', does: 'into ~/.config/fish/completions' },
  ],
};

/** Puts the examples at the end of each command's help. */
export function addExamples(program: Command): void {
  for (const command of program.commands) {
    const examples = COMMAND_EXAMPLES[command.name()] ?? [];
    if (examples.length > 0) command.addHelpText('after', `\nExamples:\n${examples.map(render).join('\n')}`);
  }
}

function render({ line, does }: CommandExample): string {
  return `  ${line}\n      ${does}`;
}
