import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { PROJECT } from '../../scripts/run-tool.js';
import type { Emitted, FcmpEvent } from '../../src/events/index.js';
import type { RunPorts } from '../../src/runs/ports/run-ports.js';
import type { RunResult } from '../../src/store/records/run-result.js';
import type { RunSpec } from '../../src/store/records/run-spec.js';
import { startRun, type Run } from '../../src/runs/start-run.js';
import { ACP_PROGRAMS_FOLDER, HOMES_FOLDER, PROGRAMS_FOLDER } from './install-programs.js';
import type { RealEngine } from './real-engine.js';
import { startModel, type ModelOptions, type ModelReply, type ScriptedModel } from './scripted-model.js';

/** Folders, a model and an environment for one run, separate from the developer's own settings. */
export interface Stage {
  readonly root: string;
  readonly workdir: string;
  /** The folder the run will have. */
  readonly runDir: string;
  readonly ports: RunPorts;
  readonly spec: Pick<RunSpec, 'engine' | 'workdir' | 'env' | 'model'>;
  readonly model: ScriptedModel;
  /** Stops the model and removes the folders. */
  remove(): Promise<void>;
}

/** The outcome of a run on a stage. */
export interface ScenarioRun {
  readonly result: RunResult;
  readonly events: readonly Emitted[];
  readonly fcmp: readonly FcmpEvent[];
}

const RUN_ID = '01JREA1PR0GRAMS0000000001A';

/** For an agent that does not use a model. */
const NO_MODEL: ScriptedModel = {
  url: '',
  requests: [],
  hasReceived: () => false,
  stop: async () => Promise.resolve(),
};

/** Options of a stage. */
interface StageOptions extends ModelOptions {
  /** Files in the home folder that replace the engine's: path → content. */
  readonly homeFiles?: (modelUrl: string) => Readonly<Record<string, string>>;
}

/** Creates a stage for an engine with the replies of its model. */
export async function prepareStage(
  real: Pick<RealEngine, 'engine' | 'homeFiles' | 'homeOutsideTemporary' | 'environment'> & { readonly model?: string },
  script: ((folders: StageFolders) => readonly [ModelReply, ...ModelReply[]]) | 'no model',
  options: StageOptions = {},
): Promise<Stage> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'sluice-real-')));
  const folders = { root, workdir: join(root, 'work'), runDir: join(root, 'data', 'runs', RUN_ID) };
  const model = script === 'no model' ? NO_MODEL : await startModel(script(folders), options);
  const home = real.homeOutsideTemporary === true ? createHome() : join(root, 'home');
  const variables = real.environment(model.url);
  writeFiles(home, { ...real.homeFiles(model.url), ...options.homeFiles?.(model.url) });
  mkdirSync(folders.workdir);
  return {
    ...folders,
    model,
    ports: {
      data: join(root, 'data'),
      newId: () => RUN_ID,
      // The settings of the engines use a server of this project.
      sandbox: { read: [PROJECT, realpathSync(join(PROJECT, 'node_modules'))] },
      environment: {
        PATH: [PROGRAMS_FOLDER, ACP_PROGRAMS_FOLDER, process.env['PATH']].join(delimiter),
        HOME: home,
        LANG: 'C.UTF-8',
        ...variables,
      },
    },
    spec: {
      engine: real.engine,
      workdir: folders.workdir,
      env: Object.keys(variables),
      ...(real.model === undefined ? {} : { model: real.model }),
    },
    async remove() {
      await model.stop();
      for (const folder of [root, home]) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** Creates a home folder outside the temporary folder. */
function createHome(): string {
  mkdirSync(HOMES_FOLDER, { recursive: true });
  return realpathSync(mkdtempSync(join(HOMES_FOLDER, 'home-')));
}

/** The folders of a stage, for scripts that name files in them. */
export type StageFolders = Pick<Stage, 'root' | 'workdir' | 'runDir'>;

/** Called once at the start without an event, then with every FCMP event. */
export type Act = (run: Run, event: FcmpEvent | undefined) => Promise<void>;

/** Runs a spec on a stage to its end; `act` can reply or cancel meanwhile. */
export async function play(
  stage: Stage,
  spec: Partial<RunSpec>,
  act: Act = async () => undefined,
  ports: Partial<RunPorts> = {},
): Promise<ScenarioRun> {
  const run = startRun({ ...stage.spec, limits: { time_s: 120 }, ...spec }, { ...stage.ports, ...ports });
  const started = act(run, undefined);
  const events: Emitted[] = [];
  for await (const emitted of run.events) {
    events.push(emitted);
    if (emitted.protocol === 'fcmp') await act(run, emitted.event);
  }
  await started;
  const fcmp = events.flatMap(({ protocol, event }) => (protocol === 'fcmp' ? [event] : []));
  return { result: await run.result, events, fcmp };
}

/** Writes files below a folder: path → content. */
export function writeFiles(folder: string, files: Readonly<Record<string, string | Uint8Array>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}
