import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { RunSpec } from '../../records/index.js';

/** The recorded agents and the schemas of their answers. */
const AGENTS = {
  claude: { type: 'object', required: ['artifacts'], properties: { artifacts: { type: 'array' } } },
  gemini: { type: 'object', required: ['items'] },
  codex: { type: 'object', required: ['artifacts'], properties: { artifacts: { type: 'array' } } },
} as const;

type RecordedEngine = keyof typeof AGENTS;

/** A recorded agent: its run spec, and the command that replays it. */
export interface RecordedAgent {
  readonly engine: RecordedEngine;
  readonly spec: Omit<RunSpec, 'workdir'>;
  readonly program: readonly [string, string, string];
}

/** In the package's `examples/` folder; the path relative to this file is the same in source and build. */
const FOLDER = fileURLToPath(new URL('../../../examples/recorded-agents', import.meta.url));

/** Reads the recorded agents in the package. */
export async function readRecordedAgents(): Promise<readonly RecordedAgent[]> {
  return Promise.all(
    Object.entries(AGENTS).map(async ([name, schema]) => {
      const engine = name as RecordedEngine;
      const folder = join(FOLDER, engine);
      const recording = JSON.parse(await readFile(join(folder, 'recording.json'), 'utf8')) as { prompt: string };
      return {
        engine,
        spec: { engine, prompt: recording.prompt, contract: { schema } },
        program: [process.execPath, join(FOLDER, 'replay.mjs'), folder] as const,
      };
    }),
  );
}
