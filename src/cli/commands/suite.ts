import { lstat, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { omitUndefined } from '../../base/index.js';
import { openRunFolder } from '../../runs/run-folder/index.js';
import { openRunById, MAX_INPUT_BYTES, readInput } from '../read-input.js';
import type { CaseReport, NewCase } from '../../server/suite/index.js';
import type { CommandIo } from '../command-io.js';
import { CONTEXT_OPTIONS, readRecords, type CommandContext } from '../command-context.js';
import { EXIT, MisuseError } from '../failure.js';
import { compileKnownSecrets } from '../command-config.js';
import { printJson, printRows, wantsJson } from '../print.js';
import { withProgress } from '../progress.js';
import { defineCommand, type FlagsOf } from '../command.js';
import { CONTRACT_OPTIONS, readContract } from '../run-flags.js';
import { formatLine, makeVisible } from '../terminal-text.js';
import { readAuthor } from './orders.js';

const SUITE_OPTION = { '--suite <dir>': ['suite folder', { default: 'sluice-suite' }] } as const;

const ADD_OPTIONS = {
  ...SUITE_OPTION,
  ...CONTEXT_OPTIONS,
  '--answer <file>': 'save an answer instead of a run; - for standard input',
  '--name <name>': 'name of the case (default: from the issue or the run)',
  '--schema <file>': 'JSON Schema, for an answer or for a run that is not in the database',
  ...CONTRACT_OPTIONS,
  '--verdict <verdict>': ['your verdict on the result', ['accept', 'reject']],
  '--why <text>': 'reason for the verdict',
  '--who <name>': 'author of the verdict (default: your login name)',
  '--note <text>': 'description of the case',
} as const;

type AddFlags = FlagsOf<typeof ADD_OPTIONS>;

const addAddCommand = defineCommand('add', {
  summary: 'save a run as a case: its bytes, schema, options and your verdict',
  args: { '[run]': 'id of a run, or a run folder' },
  options: ADD_OPTIONS,
  async run({ run, ...flags }, io) {
    if ((run === undefined) === (flags.answer === undefined))
      throw new MisuseError('Pass either a run or an answer with --answer FILE.');
    if (flags.why !== undefined && flags.verdict === undefined)
      throw new MisuseError('--why needs a verdict. Add --verdict accept or --verdict reject.');
    const { writeCase } = await import('../../server/suite/index.js');
    const newCase = await readRecords(flags, io, async (context) => makeCase(run, flags, context, io));
    const { details, expected, files } = newCase;
    const name = flags.name ?? newCase.name;
    const folder = await writeCase(resolve(flags.suite), name, files);
    const decided = details.order?.decided;
    const { action, code } = expected.decision;
    if (decided !== undefined && (decided.action !== action || decided.code !== code)) {
      const earlier = `${decided.action} (${decided.code})`;
      await io.stderr.write(
        formatLine(`This version decides ${action} (${code}), but the decision on the order was ${earlier}.`),
      );
    }
    return printJson({ name, folder, ...expected, ...omitUndefined({ verdict: details.verdict }) }, io);
  },
});

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
  const contract = await readContract(flags, io);
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

function readVerdict({ verdict, why = '', who }: AddFlags, now: number) {
  if (verdict === undefined) return undefined;
  return { action: verdict, who: readAuthor(who), why, at: new Date(now).toISOString() };
}

const addRunCommand = defineCommand('run', {
  summary: 'parse and decide all cases again, and fail on any change',
  args: { '[names...]': 'only these cases' },
  options: {
    ...SUITE_OPTION,
    '--json': 'print the report as JSON, even at a terminal',
    '--junit <file>': 'also write the report as JUnit XML',
  },
  notes: 'Exit codes: 0 nothing changed, 1 a case changed or cannot be read, 2 no cases or usage error.',
  async run({ names, suite, junit, ...flags }, io) {
    const { renderJunit, runSuite } = await import('../../server/suite/index.js');
    let done = 0;
    const reports = await withProgress(io, { label: 'suite', unit: 'cases' }, async (set) =>
      runSuite({
        suite: resolve(suite),
        names,
        clock: Date.now,
        onCase: (_report, total) => set((done += 1), total),
      }),
    );
    if (junit !== undefined) await writeFile(junit, renderJunit(reports));
    const failed = reports.filter(({ status }) => status !== 'same');
    if (wantsJson(flags, io)) await printJson({ cases: reports.length, failed: failed.length, reports }, io);
    else await io.stdout.write(await describeReports(reports));
    return failed.length === 0 ? EXIT.success : EXIT.failed;
  },
});

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

const addListCommand = defineCommand('list', {
  summary: 'list all cases',
  options: { ...SUITE_OPTION, '--json': 'print all fields as a JSON array, even at a terminal' },
  async run({ suite: folder, ...flags }, io) {
    const { listCases, openCase } = await import('../../server/suite/index.js');
    const suite = resolve(folder);
    const rows = [];
    for (const name of await listCases(suite)) {
      const { details, expected } = await openCase(suite, name);
      rows.push({ name, ...details, expected: expected.decision });
    }
    type Row = (typeof rows)[number];
    const columns = {
      NAME: 'name',
      KIND: 'kind',
      ENGINE: 'engine',
      DECISION: ({ expected }: Row) => expected.action,
      CODE: ({ expected }: Row) => expected.code,
      VERDICT: ({ verdict }: Row) => verdict?.action ?? null,
      ADDED: 'added_at',
    } as const;
    return printRows(rows, columns, flags, io);
  },
});

const addAcceptCommand = defineCommand('accept', {
  summary: 'accept the results and decisions of this version as the new expectations',
  args: { '[names...]': 'cases to accept' },
  options: { ...SUITE_OPTION, '--all': 'accept all cases that changed' },
  async run({ names, suite, all }, io) {
    if (names.length === 0 && all !== true)
      throw new MisuseError('No cases given. Name the cases to accept, or use --all.');
    const { acceptCases } = await import('../../server/suite/index.js');
    const accepted = await acceptCases({ suite: resolve(suite), names, clock: Date.now });
    return printJson({ accepted: accepted.map(({ name, changes }) => ({ name, changes })) }, io);
  },
});

export const addSuiteCommand = defineCommand('suite', {
  summary: 'save runs as test cases and check them in CI',
  subcommands: [addAddCommand, addRunCommand, addListCommand, addAcceptCommand],
});
