import type { Command } from 'commander';

/** A command line and what it does. `RUN`, `RUN_FOLDER` and `ITEM` stand for a run's id and folder, and the id of an inbox item. */
interface CommandExample {
  readonly line: string;
  readonly does: string;
}

/** Examples for the help of each command. Tests execute them. */
export const COMMAND_EXAMPLES: Readonly<Record<string, readonly CommandExample[]>> = {
  parse: [
    {
      line: './some-agent | sluice parse --schema issue.schema.json',
      does: 'parse an answer from a pipe and validate it',
    },
    {
      line: 'sluice parse answer.txt --profile tagged --allow-partial',
      does: 'read <json> tags only; close a truncated value',
    },
    {
      line: 'sluice parse answer.txt --schema issue.schema.json --align',
      does: 'also convert "3" to 3 and similar near misses',
    },
  ],
  repair: [{ line: 'sluice repair broken.json > repaired.json', does: 'write valid JSON, without validation' }],
  run: [
    {
      line: 'sluice run --engine codex --schema issue.schema.json "Find the worst bug."',
      does: 'run an agent and validate its answer',
    },
    { line: 'sluice run --engine command --schema issue.schema.json -- ./some-agent', does: 'run any program' },
    {
      line: 'sluice run --engine codex --timeout 600 --permissions workspace "Fix it."',
      does: 'let the agent edit files here',
    },
    {
      line: 'sluice run --engine codex --summary "Find the worst bug." > summary.md',
      does: 'print the result as Markdown, for the page of a CI job',
    },
  ],
  acp: [
    { line: 'sluice acp --engine codex', does: 'register this as a custom agent in an editor that supports ACP' },
    {
      line: 'sluice acp --engine gemini-acp --permissions ask --schema issue.schema.json',
      does: 'pass permission requests to the editor, and validate every answer',
    },
  ],
  mcp: [
    { line: 'sluice mcp', does: 'register this as an MCP server in Claude, Codex, Cursor and others' },
    { line: 'sluice mcp --url http://127.0.0.1:7171', does: 'use a running server; orders outlive the client' },
  ],
  translate: [
    { line: 'sluice translate RUN_FOLDER', does: 'print the events as FCMP' },
    { line: 'sluice translate RUN_FOLDER --to agui', does: 'print AG-UI events' },
    { line: 'sluice translate RUN_FOLDER --write', does: 'rewrite the logs of the folder' },
  ],
  replay: [{ line: 'sluice replay RUN_FOLDER', does: 'compare the logs with what this version produces' }],
  token: [{ line: 'sluice token', does: 'print the token of your local servers' }],
  trust: [{ line: 'sluice trust', does: 'let the configuration here start programs' }],
  doctor: [{ line: 'sluice doctor', does: 'check agents, data folder, sandbox and archive' }],
  order: [{ line: 'sluice order request.json', does: 'execute one order and print the decision' }],
  diff: [{ line: "sluice diff 'local#1'", does: 'show what the newest order of an issue has changed' }],
  inbox: [
    { line: 'sluice inbox', does: 'list open items' },
    { line: "sluice inbox --json --issue 'local#2'", does: 'print all details of one issue' },
  ],
  reply: [
    {
      line: 'sluice reply RUN --allow --why "the diff is what I asked for"',
      does: 'let the agent use the tool it asks for',
    },
  ],
  resolve: [
    {
      line: 'sluice resolve ITEM --action reject --why "nothing shows that it works"',
      does: 'reject the result; the issue becomes blocked',
    },
  ],
  outbox: [
    { line: 'sluice outbox --deliver', does: 'send due comments, then list all' },
    { line: 'sluice outbox redeliver --sink webhook', does: 'send all undelivered comments of a sink again' },
  ],
  executions: [
    { line: 'sluice executions --since 2026-01-01 --csv > executions.csv', does: 'export to a spreadsheet' },
    { line: 'sluice executions --decision needs-human --limit 10', does: 'list the last ten that needed a person' },
  ],
  serve: [
    { line: 'sluice serve --port 7171', does: 'start the server with the demo, on this machine only' },
    {
      line: 'sluice serve --port 7171 --no-demo --no-worker',
      does: 'start the server only; run sluice worker for the work',
    },
  ],
  worker: [
    { line: 'sluice worker --concurrency 8', does: 'process up to eight orders and runs at once' },
    { line: 'sluice worker --takes orders --type codex-cli', does: 'process only orders for Codex' },
  ],
  workers: [{ line: 'sluice workers', does: 'list the workers that share the database' }],
  budgets: [{ line: 'sluice budgets', does: 'show the usage of the configured budgets' }],
  backup: [{ line: 'sluice backup copy.db', does: 'copy the database while the server runs' }],
  migrate: [
    {
      line: 'sluice migrate sqlite:sluice.db postgres://db.example.org/sluice',
      does: 'move to PostgreSQL, with every server and worker stopped',
    },
  ],
  export: [
    {
      line: 'sluice export RUN fixtures/unknown-event',
      does: 'copy a run folder; check it with sluice replay fixtures/unknown-event',
    },
    { line: 'sluice export --html RUN report.html', does: 'make one HTML file, to attach to a bug report' },
  ],
  suite: [
    {
      line: 'sluice suite add RUN --verdict reject --why "wrong file"',
      does: 'keep a run as a test case, with your verdict',
    },
    { line: 'sluice suite run --junit suite.xml', does: 'fail if a case is read or decided differently' },
    { line: 'sluice suite accept --all', does: 'accept what this version reads and decides' },
  ],
  demo: [{ line: 'sluice demo --json', does: 'run four orders and print the outcome' }],
  completion: [
    { line: 'source <(sluice completion bash)', does: 'enable completion in this shell; add it to ~/.bashrc for all' },
    { line: 'sluice completion zsh > _sluice', does: 'save it in a folder of $fpath' },
    { line: 'sluice completion fish > sluice.fish', does: 'save it in ~/.config/fish/completions' },
  ],
};

/** Adds the examples to the help of each command. */
export function addExamples(program: Command): void {
  for (const command of program.commands) {
    const examples = COMMAND_EXAMPLES[command.name()] ?? [];
    if (examples.length > 0) command.addHelpText('after', `\nExamples:\n${examples.map(render).join('\n')}`);
  }
}

function render({ line, does }: CommandExample): string {
  return `  ${line}\n      ${does}`;
}
