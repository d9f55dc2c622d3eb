import { lstat, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { omitUndefined } from '../../base/index.js';
import { openRunFolder } from '../../runs/run-folder/index.js';
import { openRunById, MAX_INPUT_BYTES, readInput } from '../read-input.js';
import type { CaseReport, NewCase } from '../../server/suite/index.js';
import type { CommandIo } from '../command-io.js';
import { withContext, withContextOptions, type CommandContext } from '../command-context.js';
import type { ConfigFlags } from '../../server/config/index.js';
import { EXIT, type ExitCode, MisuseError } from '../failure.js';
import { compileKnownSecrets } from '../command-config.js';
import { printJson, printRows, wantsJson } from '../print.js';
import { withProgress } from '../progress.js';
import { addOptions, type FlagsOf } from '../options.js';
import { CONTRACT_OPTIONS, readContract } from '../run-flags.js';
import { formatLine, makeVisible } from '../terminal-text.js';
import { readAuthor } from './orders.js';

interface SuiteFlags {
  readonly suite: string;
}

interface RunSuiteFlags extends SuiteFlags {
  readonly json?: boolean;
  readonly junit?: string;
}

const DEFAULT_SUITE = 'sluice-suite';

function withSuite(command: Command): Command {
  return command.option('--suite <dir>', 'suite folder', DEFAULT_SUITE);
}

const ADD_OPTIONS = {
  '--answer <file>': 'save an answer instead of a run; - for standard input',
  '--name <name>': 'name of the case (default: from the issue or the run)',
  '--schema <file>': 'JSON Schema, for an answer or for a run that is not in the database',
  ...CONTRACT_OPTIONS,
  '--verdict <verdict>': ['your verdict on the result', ['accept', 'reject']],
  '--why <text>': 'reason for the verdict',
  '--who <name>': 'author of the verdict (default: your login name)',
  '--note <text>': 'description of the case',
} as const;

type AddFlags = ConfigFlags & SuiteFlags & FlagsOf<typeof ADD_OPTIONS>;

export function addSuiteCommand(program: Command, io: CommandIo, end: (code: ExitCode) => void): void {
  const suite = program.command('suite').description('save runs as test cases and check them in CI');

  addOptions(withContextOptions(withSuite(suite.command('add'))), ADD_OPTIONS)
    .description('save a run as a case: its bytes, schema, options and your verdict')
    .argument('[run]', 'id of a run, or a run folder')
    .action(async (run: string | undefined, flags: AddFlags) => end(await runAdd(run, flags, io)));

  withSuite(suite.command('run'))
    .description('parse and decide all cases again, and fail on any change')
    .argument('[names...]', 'only these cases')
    .option('--json', 'print the report as JSON, even at a terminal')
    .option('--junit <file>', 'also write the report as JUnit XML')
    .addHelpText(
      'after',
      '\nExit codes: 0 nothing changed, 1 a case changed or cannot be read, 2 no cases or usage error.',
    )
    .action(async (names: readonly string[], flags: RunSuiteFlags) => end(await runRunSuite(names, flags, io)));

  withSuite(suite.command('list'))
    .description('list all cases')
    .option('--json', 'print all fields as a JSON array, even at a terminal')
    .action(async (flags: RunSuiteFlags) => end(await runList(flags, io)));

  withSuite(suite.command('accept'))
    .description('accept the results and decisions of this version as the new expectations')
    .argument('[names...]', 'cases to accept')
    .option('--all', 'accept all cases that changed')
    .action(async (names: readonly string[], flags: SuiteFlags & { readonly all?: boolean }) => {
      end(await runAccept(names, flags, io));
    });
}

async function runAdd(run: string | undefined, flags: AddFlags, io: CommandIo): Promise<ExitCode> {
  if ((run === undefined) === (flags.answer === undefined)) {
    throw new MisuseError('Pass either a run or an answer with --answer FILE.');
  }
  if (flags.why !== undefined && flags.verdict === undefined) {
    throw new MisuseError('--why needs a verdict. Add --verdict accept or --verdict reject.');
  }
  const { writeCase } = await import('../../server/suite/index.js');
  const newCase = await withContext(flags, io, async (context) => makeCase(run, flags, context, io), {
    isReadOnly: true,
  });
  const name = flags.name ?? newCase.name;
  const folder = await writeCase(resolve(flags.suite), name, newCase.files);
  const { decided } = newCase.details.order ?? {};
  if (
    decided !== undefined &&
    (decided.action !== newCase.expected.decision.action || decided.code !== newCase.expected.decision.code)
  ) {
    const current = `${newCase.expected.decision.action} (${newCase.expected.decision.code})`;
    await io.stderr.write(
      formatLine(
        `This version decides ${current}, but the decision on the order was ${decided.action} (${decided.code}).`,
      ),
    );
  }
  await printJson({ name, folder, ...newCase.expected, ...omitUndefined({ verdict: newCase.details.verdict }) }, io);
  return EXIT.success;
}

async function makeCase(
  run: string | undefined,
  flags: AddFlags,
  context: CommandContext,
  io: CommandIo,
): Promise<NewCase> {
  const { makeFolderCase, makeRunCase, makeTextCase } = await import('../../server/suite/index.js');
  const { store, wrappers, config } = context;
  const options = {
    secrets: await compileKnownSecrets(config),
    clock: () => store.now(),
    note: flags.note,
    verdict: readVerdict(flags, store.now()),
  };
  const contract = toStoredContract(await readContract(flags, io));
  if (run === undefined) {
    const { name } = flags;
    if (name === undefined) throw new MisuseError('An answer needs a name. Add --name NAME.');
    const input = await readInput(flags.answer, MAX_INPUT_BYTES, io);
    if ('tooLong' in input) throw new MisuseError(`The input is longer than ${MAX_INPUT_BYTES} bytes. Shorten it.`);
    return makeTextCase({ ...options, text: input.text, name, contract: contract ?? {} });
  }
  const isFolder = run.includes('/') || (await lstat(run).catch(() => undefined)) !== undefined;
  const record = isFolder ? undefined : await store.findRun(run);
  const folder = isFolder ? await openRunFolder(run) : await openRunById(config, run);
  if (record === undefined) return makeFolderCase({ ...options, folder, contract });
  if (contract !== undefined) {
    throw new MisuseError('The contract of this run is in the database. Omit --schema and the parsing options.');
  }
  return makeRunCase({ ...options, record, folder, store, wrappers });
}

function toStoredContract(contract: Awaited<ReturnType<typeof readContract>>) {
  if (contract === undefined) return undefined;
  const { schema, profile, allow_partial, align } = contract;
  const jsonSchema = schema === undefined || '~standard' in schema ? {} : { schema };
  return { ...jsonSchema, ...omitUndefined({ profile, allow_partial, align }) };
}

function readVerdict({ verdict, why = '', who }: AddFlags, now: number) {
  if (verdict === undefined) return undefined;
  return { action: verdict, who: readAuthor(who), why, at: new Date(now).toISOString() };
}

async function runRunSuite(names: readonly string[], flags: RunSuiteFlags, io: CommandIo): Promise<ExitCode> {
  const { renderJunit, runSuite } = await import('../../server/suite/index.js');
  let done = 0;
  const reports = await withProgress(io, { label: 'suite', unit: 'cases' }, async (set) =>
    runSuite({
      suite: resolve(flags.suite),
      names,
      clock: Date.now,
      onCase: (_report, total) => set((done += 1), total),
    }),
  );
  if (flags.junit !== undefined) await writeFile(flags.junit, renderJunit(reports));
  const failed = reports.filter(({ status }) => status !== 'same');
  if (wantsJson(flags, io)) await printJson({ cases: reports.length, failed: failed.length, reports }, io);
  else await io.stdout.write(await describeReports(reports));
  return failed.length === 0 ? EXIT.success : EXIT.failed;
}

const MARKS: Readonly<Record<CaseReport['status'], string>> = { same: '✓', changed: '✗', broken: '!' };

async function describeReports(reports: readonly CaseReport[]): Promise<string> {
  const { describeChange } = await import('../../server/suite/index.js');
  const lines = reports.flatMap(({ name, status, changes, problem }) => [
    `${MARKS[status]} ${name}`,
    ...changes.map((change) => `    ${describeChange(change)}`),
    ...(problem === undefined ? [] : [`    ${problem}`]),
  ]);
  const failed = reports.filter(({ status }) => status !== 'same').length;
  const hint = failed === 0 ? [] : ['Use sluice suite accept NAME to accept a correct change.'];
  return `${makeVisible([...lines, `${reports.length - failed} passed, ${failed} failed`, ...hint].join('\n'))}\n`;
}

async function runList(flags: RunSuiteFlags, io: CommandIo): Promise<ExitCode> {
  const { listCases, openCase } = await import('../../server/suite/index.js');
  const suite = resolve(flags.suite);
  const rows = [];
  for (const name of await listCases(suite)) {
    const { details, expected } = await openCase(suite, name);
    rows.push({ name, ...details, expected: expected.decision });
  }
  await printRows(
    rows,
    [
      { heading: 'NAME', value: ({ name }) => name },
      { heading: 'KIND', value: ({ kind }) => kind },
      { heading: 'ENGINE', value: ({ engine }) => engine ?? null },
      { heading: 'DECISION', value: ({ expected }) => expected.action },
      { heading: 'CODE', value: ({ expected }) => expected.code },
      { heading: 'VERDICT', value: ({ verdict }) => verdict?.action ?? null },
      { heading: 'ADDED', value: ({ added_at }) => added_at },
    ],
    flags,
    io,
  );
  return EXIT.success;
}

async function runAccept(
  names: readonly string[],
  flags: SuiteFlags & { readonly all?: boolean },
  io: CommandIo,
): Promise<ExitCode> {
  if (names.length === 0 && flags.all !== true)
    throw new MisuseError('No cases given. Name the cases to accept, or use --all.');
  const { acceptCases } = await import('../../server/suite/index.js');
  const accepted = await acceptCases({ suite: resolve(flags.suite), names, clock: Date.now });
  await printJson({ accepted: accepted.map(({ name, changes }) => ({ name, changes })) }, io);
  return EXIT.success;
}
