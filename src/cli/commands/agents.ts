import { writeFile } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import type { CommandIo } from '../command-io.js';
import { compileKnownSecrets, loadCommandConfig } from '../command-config.js';
import { CONTEXT_OPTIONS } from '../command-context.js';
import { defineCommand, type FlagsOf } from '../command.js';
import { EXIT, MisuseError, type ExitCode } from '../failure.js';
import { addAgentToConfig, createArchive, readSandbox } from '../../server/config/index.js';
import type { Config } from '../../server/config/index.js';
import { printJson, wantsJson } from '../print.js';
import { withInterruption } from '../interruption.js';
import { isSluiceError, omitUndefined, SluiceError } from '../../base/index.js';
import { isPresent, prepareDataFolder, VERSION } from '../../base/files/index.js';
import { probeSandbox, type SandboxSupport } from '../../runs/sandbox/index.js';
import type { AgentSettings, RunPorts } from '../../runs/index.js';
import type { AgentReport, TrialStep } from '../../runs/agents/index.js';
import { formatLine, makeVisible } from '../terminal-text.js';

const AGENT_OPTIONS = {
  '--config <file>': CONTEXT_OPTIONS['--config <file>'],
  '--data <dir>': CONTEXT_OPTIONS['--data <dir>'],
  '--json': 'print JSON, even at a terminal',
} as const;

const TRIAL = {
  args: {
    '<name>': 'agent: built-in, preset or configured, or a new name with -- COMMAND ARGS',
    '[command...]': "a new agent's command, which speaks the Agent Client Protocol unless --format is given",
  },
  options: {
    ...AGENT_OPTIONS,
    '--format <engine>': 'engine that reads the output of a new agent; {prompt} in its command is the prompt',
    '--env <names...>': 'environment variables that a new agent needs; patterns such as OPENAI_* are allowed',
    '--model <name>': 'model for the agent to use',
  },
} as const;

type TrialFlags = FlagsOf<typeof TRIAL.options>;

const TRIAL_NOTES = `Scenarios: say hello, read a file, a result with a schema, a denied permission, cancel. They use your own model.
Each runs in an empty temporary folder.`;

const addTryCommand = defineCommand('try', {
  summary: 'drive an agent through five scenarios and print what worked',
  ...TRIAL,
  notes: `${TRIAL_NOTES}\nExit codes: 0 nothing failed, 1 otherwise, 130 interrupted.`,
  async run({ name, command, ...flags }, io) {
    const config = await loadCommandConfig(flags, io);
    const { ports } = await findCandidate(name, command, flags, config);
    const { steps, exitCode } = await playTrial(name, ports, flags, io);
    if (wantsJson(flags, io)) await printJson(steps, io);
    return exitCode;
  },
});

const addAddCommand = defineCommand('add', {
  summary: 'try an agent, and add it to the configuration if nothing failed',
  ...TRIAL,
  notes: `${TRIAL_NOTES}\nAn existing entry is never changed.`,
  async run({ name, command, ...flags }, io) {
    const config = await loadCommandConfig(flags, io);
    const { ports, entry } = await findCandidate(name, command, flags, config);
    if (entry === undefined) throw new MisuseError(`The agent "${name}" needs no entry: it can be used already.`);
    const file = config.file ?? resolve('sluice.config.json');
    const { steps, exitCode } = await playTrial(name, ports, flags, io);
    const added = exitCode === EXIT.success;
    if (added) await addAgentToConfig(file, name, entry);
    else await io.stderr.write(formatLine('The configuration was not changed: not every scenario worked.'));
    if (wantsJson(flags, io)) await printJson({ name, entry, file, added, steps }, io);
    else if (added)
      await io.stdout.write(makeVisible(`Added agents.${name} to ${file}. Trust it with: sluice trust\n`));
    return exitCode;
  },
});

export const addAgentsCommand = defineCommand('agents', {
  summary: 'list agents: which are installed, their versions, and how to install the others',
  options: AGENT_OPTIONS,
  notes: 'A preset can be used by sluice run and sluice acp without configuration. A server needs sluice agents add.',
  subcommands: [addTryCommand, addAddCommand],
  async run(flags, io) {
    const reports = await findAgents(await loadCommandConfig(flags, io));
    if (wantsJson(flags, io)) return printJson(reports, io);
    return io.stdout.write(makeVisible(await renderAgents(reports)));
  },
});

async function findAgents({ programs, agents }: Config): Promise<readonly AgentReport[]> {
  const { listAgents } = await import('../../runs/agents/index.js');
  return listAgents({ env: process.env, cwd: process.cwd(), ...omitUndefined({ programs, agents }) });
}

async function renderAgents(reports: readonly AgentReport[]): Promise<string> {
  const { renderDoctor } = await import('../../runs/index.js');
  return renderDoctor(reports.map(toEngineReport));
}

/** Returns the report of `sluice doctor`, which names the next step. */
function toEngineReport({ name: engine, install, note, ...report }: AgentReport) {
  const steps = [report.status === 'missing' ? install : undefined, note].filter((step) => step !== undefined);
  return { engine, ...report, ...(steps.length === 0 ? {} : { next: steps.join('; ') }) };
}

async function findCandidate(name: string, command: readonly string[], flags: TrialFlags, config: Config) {
  const [{ createPresetLaunchers, PRESETS }, { listLaunchers }] = await Promise.all([
    import('../../runs/agents/index.js'),
    import('../../runs/index.js'),
  ]);
  const { data, programs, secrets, agents = {} } = config;
  const given = readSettings(command, flags);
  const known = listLaunchers(agents, createPresetLaunchers(agents));
  if (given !== undefined && Object.hasOwn(known, name))
    throw new MisuseError(`There already is an agent "${name}". Choose another name for the command.`);
  if (given === undefined && (!Object.hasOwn(known, name) || name === 'command'))
    throw new MisuseError(`Unknown agent "${name}". Use sluice agents to list all, or add -- COMMAND ARGS.`);
  const allAgents = given === undefined ? agents : { ...agents, [name]: given };
  const isPreset = Object.hasOwn(PRESETS, name) && !Object.hasOwn(agents, name);
  return {
    ports: {
      data,
      sandbox: readSandbox(config, process.env),
      agents: allAgents,
      launchers: createPresetLaunchers(allAgents),
      ...omitUndefined({ programs, secrets }),
    },
    /** The entry for the configuration; undefined for a built-in or configured agent. */
    entry: given ?? (isPreset ? PRESETS[name]?.agent : undefined),
  };
}

function readSettings(
  [program, ...args]: readonly string[],
  { format, env }: Pick<TrialFlags, 'format' | 'env'>,
): AgentSettings | undefined {
  if (program === undefined) {
    if (format !== undefined || env !== undefined)
      throw new MisuseError('--format and --env describe a new agent. Add its command: -- COMMAND ARGS.');
    return undefined;
  }
  const command = [basename(program) === program ? program : resolve(program), ...args];
  const optional = omitUndefined({ env });
  return format === undefined
    ? { acp: command, ...optional }
    : { command, format: format as Extract<AgentSettings, { format: unknown }>['format'], ...optional };
}

/** Drives an agent through the scenarios; prints each outcome at once, unless JSON is requested. */
async function playTrial(
  engine: string,
  ports: RunPorts,
  flags: Pick<TrialFlags, 'model' | 'json'>,
  io: CommandIo,
): Promise<{ readonly steps: readonly TrialStep[]; readonly exitCode: ExitCode }> {
  const { tryAgent } = await import('../../runs/agents/index.js');
  if (ports.data !== undefined) await prepareDataFolder(ports.data);
  const steps: TrialStep[] = [];
  const isInterrupted = await withInterruption(async (signal) => {
    for await (const step of tryAgent(engine, ports, { signal, model: flags.model })) {
      steps.push(step);
      if (!wantsJson(flags, io)) await io.stdout.write(makeVisible(renderStep(step)));
    }
    return signal.aborted;
  });
  const hasFailed = steps.some(({ outcome }) => outcome === 'failed');
  const ended = hasFailed ? EXIT.failed : EXIT.success;
  return { steps, exitCode: isInterrupted ? EXIT.canceled : ended };
}

const MARKS: Readonly<Record<TrialStep['outcome'], string>> = { worked: '✓', limited: '~', failed: '✗' };

function renderStep({ scenario, outcome, detail, duration_ms, run_id }: TrialStep): string {
  const run = outcome === 'failed' ? `; run ${run_id}` : '';
  return `${MARKS[outcome]} ${scenario.padEnd(10)}  ${detail} (${(duration_ms / 1000).toFixed(1)} s${run})\n`;
}

const DOCTOR_OPTIONS = {
  ...AGENT_OPTIONS,
  '--record <agent>': 'record five short scenarios with this agent, and write what Sluice does not know to a file',
  '--output <file>': 'with --record: the file to create (default: sluice-record-AGENT.json)',
} as const;

type DoctorFlags = FlagsOf<typeof DOCTOR_OPTIONS>;

export const addDoctorCommand = defineCommand('doctor', {
  summary: 'check the agents, the data folder, the sandbox and the archive',
  options: DOCTOR_OPTIONS,
  notes: `Prints the version of each agent and whether it was tested, and the paths in use.
Attach the file of --record to a bug report: it contains the prompts and answers of the scenarios, with secrets masked.
Exit codes: 0 at least one agent is ready, and the archive, if configured, works; 1 otherwise. With --record: 0 every scenario worked, was replayed and contains nothing unknown; 1 otherwise.`,
  run: async (flags, io) => (flags.record === undefined ? runDoctor(flags, io) : runRecord(flags.record, flags, io)),
});

async function runRecord(engine: string, flags: DoctorFlags, io: CommandIo): Promise<ExitCode> {
  const { recordScenario, renderRecord } = await import('../../runs/agents/index.js');
  const config = await loadCommandConfig(flags, io);
  const { ports } = await findCandidate(engine, [], {}, config);
  const file = resolve(flags.output ?? `sluice-record-${engine}.json`);
  if (await isPresent(file))
    throw new SluiceError('TARGET_EXISTS', `"${file}" already exists and was not changed. Choose another --output.`);
  const agent = (await findAgents(config)).find(({ name }) => name === engine);
  const { steps, exitCode } = await playTrial(engine, ports, flags, io);
  const scenarios = [];
  for (const step of steps) scenarios.push(await recordScenario(step, config.data));
  const host = { platform: process.platform, arch: process.arch, node: process.version };
  const report = { sluice: VERSION, recorded_at: new Date().toISOString(), host, agent, scenarios };
  await writeFile(file, renderRecord(report, await compileKnownSecrets(config)), { flag: 'wx' });
  const unknown = scenarios.flatMap(({ unknown_types, unknown_fields }) => [
    ...Object.keys(unknown_types),
    ...Object.keys(unknown_fields),
  ]);
  const summary = {
    file,
    unknown: [...new Set(unknown)].toSorted(),
    replayed: scenarios.every(({ replay }) => replay === 'same'),
  };
  if (wantsJson(flags, io)) await printJson(summary, io);
  else {
    const found = summary.unknown.length === 0 ? 'none' : summary.unknown.join(', ');
    const replayed = summary.replayed ? 'the same events' : 'other events; see the file';
    await io.stdout.write(
      makeVisible(
        `\nUnknown types and fields: ${found}\nReplayed: ${replayed}\nAttach this file to a bug report: ${file}\n`,
      ),
    );
  }
  const isClean = summary.unknown.length === 0 && summary.replayed;
  return exitCode === EXIT.success && !isClean ? EXIT.failed : exitCode;
}

function describeSandbox(support: SandboxSupport): string {
  if (!support.works) return `not available: ${support.reason}`;
  const network = support.canIsolateNetwork ? '' : ', but cannot restrict the network';
  return `bubblewrap ${support.version} works${network}`;
}

/** Writes, reads and deletes a small object in the configured archive. */
async function checkArchive(config: Config): Promise<{ readonly works: boolean; readonly text: string }> {
  try {
    const archive = await createArchive(config, process.env);
    await archive?.check();
    return { works: true, text: archive === undefined ? 'not configured' : `${archive.location} works` };
  } catch (error) {
    if (!isSluiceError(error)) throw error;
    return { works: false, text: `${error.code}: ${error.message}` };
  }
}

async function runDoctor(flags: DoctorFlags, io: CommandIo): Promise<ExitCode> {
  const config = await loadCommandConfig(flags, io);
  const { data, warnings } = config;
  // A preset that is not installed is of no use here; `sluice agents` lists all.
  const reports = (await findAgents(config)).filter(({ source, installed }) => source !== 'preset' || installed);
  const sandbox = describeSandbox(await probeSandbox());
  const archive = await checkArchive(config);
  if (wantsJson(flags, io)) {
    await printJson(reports.map(toEngineReport), io);
    await io.stderr.write(formatLine(`data folder: ${data}`));
    await io.stderr.write(formatLine(`sandbox: ${sandbox}`));
    await io.stderr.write(formatLine(`archive: ${archive.text}`));
  } else
    await io.stdout.write(
      makeVisible(
        `${await renderAgents(reports)}\nData folder: ${data}\nSandbox: ${sandbox}\nArchive: ${archive.text}\n`,
      ),
    );
  for (const warning of warnings) await io.stderr.write(formatLine(warning));
  const isReady = reports.some(({ status }) => status === 'ready' || status === 'unproven_version');
  return isReady && archive.works ? EXIT.success : EXIT.failed;
}
