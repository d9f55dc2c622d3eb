import type { EngineName } from '../protocol/engine-names.js';
import { acpEngine } from './acp/acp-engine.js';
import { claudeEngine } from './claude/claude-engine.js';
import { codexEngine } from './codex/codex-engine.js';
import { copilotEngine } from './copilot/copilot-engine.js';
import type { Engine } from './engine.js';
import { geminiEngine } from './gemini/gemini-engine.js';
import { genericEngine } from './generic/generic-engine.js';
import { iflowEngine } from './iflow/iflow-engine.js';
import { opencodeEngine } from './opencode/opencode-engine.js';
import { qwenEngine } from './qwen/qwen-engine.js';
import { createFramer } from '../framing/framer.js';

export const ENGINES: Readonly<Record<EngineName, Engine>> = {
  codex: codexEngine,
  claude: claudeEngine,
  qwen: qwenEngine,
  gemini: geminiEngine,
  iflow: iflowEngine,
  opencode: opencodeEngine,
  copilot: copilotEngine,
  acp: acpEngine,
  generic: genericEngine,
};

interface RecordReader {
  push(bytes: Uint8Array): void;
}

/**
 * Reads an agent's records exactly as the translator does, so a live conversation and its recording are read the same
 * way. `null` is passed for a line that is not a record.
 */
export function createRecordReader(name: EngineName, onRecord: (record: object | null) => void): RecordReader {
  const engine = ENGINES[name];
  const framer = createFramer({
    stream: 'stdout',
    framing: engine.framing,
    recognizes: (value) => engine.detect(value) > 0,
    onFrame: (frame) => {
      if (frame.kind === 'json') onRecord(frame.value);
      else if (frame.kind === 'text') onRecord(null);
    },
  });
  return { push: (bytes) => framer.push(bytes) };
}
