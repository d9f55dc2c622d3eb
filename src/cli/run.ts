import { Command, CommanderError } from 'commander';
import type { AddCommand } from './command.js';
import type { CommandIo } from './command-io.js';
import { EXIT, describeFailure, type ExitCode } from './failure.js';
import { formatLine } from './terminal-text.js';
import { VERSION } from '../base/files/index.js';

/**
 * All commands, in the order they appear in the help. Imported on demand: loading all of them takes longer than most
 * commands run.
 */
const COMMANDS: Readonly<Record<string, () => Promise<AddCommand>>> = {
  parse: async () => (await import('./commands/parse.js')).addParseCommand,
  repair: async () => (await import('./commands/parse.js')).addRepairCommand,
  run: async () => (await import('./commands/run.js')).addRunCommand,
  acp: async () => (await import('./commands/protocols.js')).addAcpCommand,
  mcp: async () => (await import('./commands/protocols.js')).addMcpCommand,
  translate: async () => (await import('./commands/run-folders.js')).addTranslateCommand,
  replay: async () => (await import('./commands/run-folders.js')).addReplayCommand,
  token: async () => (await import('./commands/maintenance.js')).addTokenCommand,
  trust: async () => (await import('./commands/maintenance.js')).addTrustCommand,
  agents: async () => (await import('./commands/agents.js')).addAgentsCommand,
  doctor: async () => (await import('./commands/agents.js')).addDoctorCommand,
  init: async () => (await import('./commands/maintenance.js')).addInitCommand,
  order: async () => (await import('./commands/orders.js')).addOrderCommand,
  inbox: async () => (await import('./commands/lists.js')).addInboxCommand,
  diff: async () => (await import('./commands/orders.js')).addDiffCommand,
  reply: async () => (await import('./commands/orders.js')).addReplyCommand,
  resolve: async () => (await import('./commands/orders.js')).addResolveCommand,
  outbox: async () => (await import('./commands/lists.js')).addOutboxCommand,
  executions: async () => (await import('./commands/lists.js')).addExecutionsCommand,
  serve: async () => (await import('./commands/serve.js')).addServeCommand,
  worker: async () => (await import('./commands/worker.js')).addWorkerCommand,
  workers: async () => (await import('./commands/lists.js')).addWorkersCommand,
  budgets: async () => (await import('./commands/lists.js')).addBudgetsCommand,
  backup: async () => (await import('./commands/maintenance.js')).addBackupCommand,
  migrate: async () => (await import('./commands/maintenance.js')).addMigrateCommand,
  export: async () => (await import('./commands/maintenance.js')).addExportCommand,
  suite: async () => (await import('./commands/suite.js')).addSuiteCommand,
  demo: async () => (await import('./commands/orders.js')).addDemoCommand,
  completion: async () => (await import('./commands/completion.js')).addCompletionCommand,
};

/** Runs one command and returns its exit code. Data goes to stdout, messages to stderr. */
export async function run(argv: readonly string[], io: CommandIo): Promise<ExitCode> {
  let exitCode: ExitCode = EXIT.success;
  let messages = '';
  let help = '';
  const program = new Command('sluice')
    .description('Turn raw agent output into validated results.')
    .version(VERSION)
    .option('--color', 'color the output, even if it is not a terminal (NO_COLOR turns colors off)')
    .option('--no-color', 'do not color the output')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => (help += text),
      writeErr: (text) => (messages += text),
      outputError: (text, write) => write(formatUsageError(text)),
    })
    .showSuggestionAfterError()
    .showHelpAfterError('(see sluice --help for the list of commands)')
    .addHelpText(
      'after',
      '\nExit codes: 0 success, 1 negative result, 2 usage error or system error, 70 internal error, 130 interrupted.',
    );
  const end = (code: ExitCode): void => {
    exitCode = code;
  };
  const printFailure = (error: unknown): ExitCode => {
    const failure = describeFailure(error);
    messages += failure.text;
    return failure.exitCode;
  };
  const args = rewriteHelp(argv);
  for (const add of await loadCommands(args[0])) add(program, io, end);
  for (const command of program.commands) command.showHelpAfterError(`(see sluice ${command.name()} --help)`);
  addExamples(program);

  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) exitCode = error.exitCode === 0 ? EXIT.success : EXIT.misuse;
    else exitCode = printFailure(error);
  }
  if (help !== '') await io.stdout.write(help).catch((error: unknown) => (exitCode = printFailure(error)));
  if (messages !== '') await io.stderr.write(messages);
  return exitCode;
}

/** Formats a message of Commander like our own: without its prefix, starting with a capital letter. */
function formatUsageError(text: string): string {
  const message = text.replace(/^error: /, '').trimEnd();
  return formatLine(`${message.charAt(0).toUpperCase()}${message.slice(1)}`);
}

/**
 * Turns `help NAME` into `NAME --help`; an unknown name is kept without `--help`, so the error suggests a similar name.
 */
function rewriteHelp(argv: readonly string[]): readonly string[] {
  const [name, flag] = argv[0] === 'help' ? [argv[1], '--help'] : argv;
  if (name === undefined || (flag !== '--help' && flag !== '-h')) return argv;
  return Object.hasOwn(COMMANDS, name) ? [name, flag] : [name];
}

/** Loads the command being called, or all commands if help, a suggestion or completion needs them. */
async function loadCommands(name = ''): Promise<AddCommand[]> {
  const loadCommand = Object.hasOwn(COMMANDS, name) && name !== 'completion' ? COMMANDS[name] : undefined;
  return loadCommand === undefined
    ? Promise.all(Object.values(COMMANDS).map(async (load) => load()))
    : [await loadCommand()];
}

/**
 * Examples for each command's help: command lines with their descriptions. `RUN`, `RUN_FOLDER` and `ITEM` are
 * placeholders for a run's id, its folder, and an inbox item's id. Tests execute them.
 */
export const COMMAND_EXAMPLES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  parse: {
    './some-agent | sluice parse --schema issue.schema.json': 'parse an answer from a pipe and validate it',
    'sluice parse answer.txt --profile tagged --allow-partial': 'read only <json> tags; accept a truncated value',
    'sluice parse answer.txt --schema issue.schema.json --align': 'also convert "3" to 3 and similar near misses',
  },
  repair: { 'sluice repair broken.json > repaired.json': 'write valid JSON, without validation' },
  run: {
    'sluice run --engine codex --schema issue.schema.json "Find the worst bug."':
      'run an agent and validate its answer',
    'sluice run --engine command --schema issue.schema.json -- ./some-agent': 'run any command',
    'sluice run --engine codex --timeout 600 --permissions workspace "Fix it."': 'let the agent edit files here',
    'sluice run --engine codex --summary "Find the worst bug." > summary.md':
      'print the result as Markdown, for a CI job summary',
  },
  acp: {
    'sluice acp --engine codex': 'register this as a custom agent in an editor that supports ACP',
    'sluice acp --engine gemini-acp --permissions ask --schema issue.schema.json':
      'pass permission requests to the editor, and validate every answer',
  },
  mcp: {
    'sluice mcp': 'register this as an MCP server in Claude, Codex, Cursor and others',
    'sluice mcp --url http://127.0.0.1:7171': 'use a running server; orders outlive the client',
  },
  translate: {
    'sluice translate RUN_FOLDER': 'print the events as FCMP',
    'sluice translate RUN_FOLDER --to agui': 'print AG-UI events',
    'sluice translate RUN_FOLDER --write': 'rewrite the logs in the folder',
  },
  replay: { 'sluice replay RUN_FOLDER': 'compare the logs with the events that this version produces' },
  token: { 'sluice token': 'print the token for your local servers' },
  trust: { 'sluice trust': 'allow the configuration in this folder to run code' },
  agents: {
    'sluice agents': 'list agents, and how to install them',
    'sluice agents --json': 'print all fields, for scripts',
  },
  doctor: { 'sluice doctor': 'check agents, data folder, sandbox and archive' },
  init: { 'sluice init shop --yes': 'create shop/sluice.config.json and shop/request.json with the suggested answers' },
  order: { 'sluice order request.json': 'execute one order and print the decision' },
  diff: { "sluice diff 'local#1'": 'show the changes made for the newest order of an issue' },
  inbox: {
    'sluice inbox': 'list open items',
    'sluice inbox ITEM': 'show one item with its evidence',
    "sluice inbox --json --issue 'local#2'": 'print the items of one issue with all details',
  },
  reply: {
    'sluice reply RUN --allow --why "the diff is what I asked for"': 'allow the tool call that the agent asks for',
  },
  resolve: {
    'sluice resolve ITEM --action reject --why "nothing shows that it works"':
      'reject the result; the issue becomes blocked',
  },
  outbox: {
    'sluice outbox --deliver': 'send due comments, then list all comments',
    'sluice outbox redeliver --sink webhook': 'resend all undelivered comments of a sink',
  },
  executions: {
    'sluice executions --since 2026-01-01 --csv > executions.csv': 'export as CSV, for a spreadsheet',
    'sluice executions --decision needs-human --limit 10': 'list the last ten executions that needed a human',
  },
  serve: {
    'sluice serve --port 7171': 'start the server with the demo, reachable only from this host',
    'sluice serve --port 7171 --no-demo --no-worker':
      'start only the server; run sluice worker to execute orders and runs',
  },
  worker: {
    'sluice worker --concurrency 8': 'process up to eight orders and runs concurrently',
    'sluice worker --kinds orders --type codex-cli': 'process only orders for Codex',
  },
  workers: { 'sluice workers': 'list the workers that share the database' },
  budgets: { 'sluice budgets': 'show the usage of the configured budgets' },
  backup: { 'sluice backup copy.db': 'copy the database while the server runs' },
  migrate: {
    'sluice migrate sqlite:sluice.db postgres://db.example.org/sluice':
      'move to PostgreSQL, with every server and worker stopped',
  },
  export: {
    'sluice export RUN fixtures/unknown-event': 'copy a run folder; check it with sluice replay fixtures/unknown-event',
    'sluice export --html RUN report.html': 'create one HTML file, for example for a bug report',
  },
  suite: {
    'sluice suite add RUN --verdict reject --why "wrong file"': 'save a run as a test case, with your verdict',
    'sluice suite run --junit suite.xml': 'fail if a case is parsed or decided differently',
    'sluice suite accept --all': 'accept the results and decisions of this version',
  },
  demo: { 'sluice demo --json': 'run four orders and print the outcome' },
  completion: {
    'source <(sluice completion bash)':
      'enable completion in this shell; add this line to ~/.bashrc to enable it in every shell',
    'sluice completion zsh > _sluice': 'save the script in a folder in $fpath',
    'sluice completion fish > sluice.fish': 'save the script in ~/.config/fish/completions',
  },
};

function addExamples(program: Command): void {
  for (const command of program.commands) {
    const examples = Object.entries(COMMAND_EXAMPLES[command.name()] ?? {});
    const lines = examples.map(([line, description]) => `  ${line}\n      ${description}`);
    if (lines.length > 0) command.addHelpText('after', `\nExamples:\n${lines.join('\n')}`);
  }
}
