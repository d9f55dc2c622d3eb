import type { Command } from 'commander';

/**
 * A command line and its description. `RUN`, `RUN_FOLDER` and `ITEM` are placeholders for a run's id, its folder, and
 * an inbox item's id.
 */
interface CommandExample {
  readonly line: string;
  readonly description: string;
}

/** Examples for each command's help. Tests execute them. */
export const COMMAND_EXAMPLES: Readonly<Record<string, readonly CommandExample[]>> = {
  parse: [
    {
      line: './some-agent | sluice parse --schema issue.schema.json',
      description: 'parse an answer from a pipe and validate it',
    },
    {
      line: 'sluice parse answer.txt --profile tagged --allow-partial',
      description: 'read only <json> tags; accept a truncated value',
    },
    {
      line: 'sluice parse answer.txt --schema issue.schema.json --align',
      description: 'also convert "3" to 3 and similar near misses',
    },
  ],
  repair: [{ line: 'sluice repair broken.json > repaired.json', description: 'write valid JSON, without validation' }],
  run: [
    {
      line: 'sluice run --engine codex --schema issue.schema.json "Find the worst bug."',
      description: 'run an agent and validate its answer',
    },
    { line: 'sluice run --engine command --schema issue.schema.json -- ./some-agent', description: 'run any command' },
    {
      line: 'sluice run --engine codex --timeout 600 --permissions workspace "Fix it."',
      description: 'let the agent edit files here',
    },
    {
      line: 'sluice run --engine codex --summary "Find the worst bug." > summary.md',
      description: 'print the result as Markdown, for a CI job summary',
    },
  ],
  acp: [
    {
      line: 'sluice acp --engine codex',
      description: 'register this as a custom agent in an editor that supports ACP',
    },
    {
      line: 'sluice acp --engine gemini-acp --permissions ask --schema issue.schema.json',
      description: 'pass permission requests to the editor, and validate every answer',
    },
  ],
  mcp: [
    { line: 'sluice mcp', description: 'register this as an MCP server in Claude, Codex, Cursor and others' },
    { line: 'sluice mcp --url http://127.0.0.1:7171', description: 'use a running server; orders outlive the client' },
  ],
  translate: [
    { line: 'sluice translate RUN_FOLDER', description: 'print the events as FCMP' },
    { line: 'sluice translate RUN_FOLDER --to agui', description: 'print AG-UI events' },
    { line: 'sluice translate RUN_FOLDER --write', description: 'rewrite the logs in the folder' },
  ],
  replay: [
    { line: 'sluice replay RUN_FOLDER', description: 'compare the logs with the events that this version produces' },
  ],
  token: [{ line: 'sluice token', description: 'print the token for your local servers' }],
  trust: [{ line: 'sluice trust', description: 'allow the configuration in this folder to run code' }],
  doctor: [{ line: 'sluice doctor', description: 'check agents, data folder, sandbox and archive' }],
  order: [{ line: 'sluice order request.json', description: 'execute one order and print the decision' }],
  diff: [{ line: "sluice diff 'local#1'", description: 'show the changes made for the newest order of an issue' }],
  inbox: [
    { line: 'sluice inbox', description: 'list open items' },
    { line: "sluice inbox --json --issue 'local#2'", description: 'print the items of one issue with all details' },
  ],
  reply: [
    {
      line: 'sluice reply RUN --allow --why "the diff is what I asked for"',
      description: 'allow the tool call that the agent asks for',
    },
  ],
  resolve: [
    {
      line: 'sluice resolve ITEM --action reject --why "nothing shows that it works"',
      description: 'reject the result; the issue becomes blocked',
    },
  ],
  outbox: [
    { line: 'sluice outbox --deliver', description: 'send due comments, then list all comments' },
    { line: 'sluice outbox redeliver --sink webhook', description: 'resend all undelivered comments of a sink' },
  ],
  executions: [
    {
      line: 'sluice executions --since 2026-01-01 --csv > executions.csv',
      description: 'export as CSV, for a spreadsheet',
    },
    {
      line: 'sluice executions --decision needs-human --limit 10',
      description: 'list the last ten executions that needed a human',
    },
  ],
  serve: [
    {
      line: 'sluice serve --port 7171',
      description: 'start the server with the demo, reachable only from this host',
    },
    {
      line: 'sluice serve --port 7171 --no-demo --no-worker',
      description: 'start only the server; run sluice worker to execute orders and runs',
    },
  ],
  worker: [
    { line: 'sluice worker --concurrency 8', description: 'process up to eight orders and runs concurrently' },
    { line: 'sluice worker --kinds orders --type codex-cli', description: 'process only orders for Codex' },
  ],
  workers: [{ line: 'sluice workers', description: 'list the workers that share the database' }],
  budgets: [{ line: 'sluice budgets', description: 'show the usage of the configured budgets' }],
  backup: [{ line: 'sluice backup copy.db', description: 'copy the database while the server runs' }],
  migrate: [
    {
      line: 'sluice migrate sqlite:sluice.db postgres://db.example.org/sluice',
      description: 'move to PostgreSQL, with every server and worker stopped',
    },
  ],
  export: [
    {
      line: 'sluice export RUN fixtures/unknown-event',
      description: 'copy a run folder; check it with sluice replay fixtures/unknown-event',
    },
    { line: 'sluice export --html RUN report.html', description: 'create one HTML file, for example for a bug report' },
  ],
  suite: [
    {
      line: 'sluice suite add RUN --verdict reject --why "wrong file"',
      description: 'save a run as a test case, with your verdict',
    },
    { line: 'sluice suite run --junit suite.xml', description: 'fail if a case is parsed or decided differently' },
    { line: 'sluice suite accept --all', description: 'accept the results and decisions of this version' },
  ],
  demo: [{ line: 'sluice demo --json', description: 'run four orders and print the outcome' }],
  completion: [
    {
      line: 'source <(sluice completion bash)',
      description: 'enable completion in this shell; add this line to ~/.bashrc to enable it in every shell',
    },
    { line: 'sluice completion zsh > _sluice', description: 'save the script in a folder in $fpath' },
    { line: 'sluice completion fish > sluice.fish', description: 'save the script in ~/.config/fish/completions' },
  ],
};

/** Adds the examples to each command's help. */
export function addExamples(program: Command): void {
  for (const command of program.commands) {
    const examples = COMMAND_EXAMPLES[command.name()] ?? [];
    if (examples.length > 0) command.addHelpText('after', `\nExamples:\n${examples.map(render).join('\n')}`);
  }
}

function render({ line, description }: CommandExample): string {
  return `  ${line}\n      ${description}`;
}
