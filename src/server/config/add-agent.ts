import { getField, isRecord } from '../../events/index.js';
import type { AgentSettings } from '../../runs/index.js';
import { SluiceError } from '../../base/index.js';
import { parseJson, readSmallFile, replaceFile } from '../../base/files/index.js';
import { parseConfigJson } from './load-config.js';

const MAX_CONFIG_BYTES = 1024 * 1024;

/**
 * Adds an agent to a JSON configuration, which is created if missing. Everything else in the file stays as it is:
 * comments, other settings, and an existing agent of this name.
 */
export async function addAgentToConfig(file: string, name: string, agent: AgentSettings): Promise<void> {
  const entry = JSON.stringify({ [name]: agent });
  if (!file.endsWith('.json'))
    throw new SluiceError('INVALID_CONFIG', `"${file}" is code, which is not edited. Add to its agents: ${entry}`);
  const text = await readSmallFile(file, MAX_CONFIG_BYTES);
  const settings = readSettings(text ?? '{}');
  const agents = isRecord(settings) ? (getField(settings, 'agents') ?? {}) : undefined;
  if (!isRecord(settings) || !isRecord(agents))
    throw new SluiceError('INVALID_CONFIG', `"${file}" does not contain a configuration. Correct it, then try again.`);
  if (Object.hasOwn(agents, name))
    throw new SluiceError(
      'TARGET_EXISTS',
      `"${file}" already has agents.${name}, and was not changed. Edit it instead.`,
    );
  const addition = renderAddition(text ?? '{}', settings, agents, entry);
  if (addition === undefined)
    throw new SluiceError('INVALID_CONFIG', `"${file}" has comments and agents, so it is not edited. Add: ${entry}`);
  await replaceFile(file, addition);
}

function readSettings(text: string): unknown {
  try {
    return parseConfigJson(text);
  } catch {
    return undefined;
  }
}

/** Renders a configuration with one more agent; undefined if that would lose comments. */
function renderAddition(text: string, settings: object, agents: object, entry: string): string | undefined {
  const changed = { ...settings, agents: { ...agents, ...(JSON.parse(entry) as object) } };
  if (parseJson(text) !== undefined) return `${JSON.stringify(changed, null, 2)}\n`;
  // A brace in a comment is noticed below.
  const start = /^\s*\{/mu.exec(text);
  if (start === null || 'agents' in settings) return undefined;
  const at = start.index + start[0].length;
  const separator = Object.keys(settings).length === 0 ? '' : ',';
  const edited = `${text.slice(0, at)}\n  "agents": ${entry}${separator}${text.slice(at)}`;
  return JSON.stringify(readSettings(edited)) === JSON.stringify({ agents: changed.agents, ...settings })
    ? edited
    : undefined;
}
