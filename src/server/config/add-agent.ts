import { getField, isRecord } from '../../events/index.js';
import type { AgentSettings } from '../../runs/index.js';
import { SluiceError } from '../../base/index.js';
import { parseJson, readSmallFile, replaceFile } from '../../base/files/index.js';

const MAX_CONFIG_BYTES = 1024 * 1024;

/**
 * Adds an agent to a JSON configuration, which is created if missing. All other settings stay unchanged, and so does an
 * existing agent of this name.
 */
export async function addAgentToConfig(file: string, name: string, agent: AgentSettings): Promise<void> {
  const entry = JSON.stringify({ [name]: agent });
  if (!file.endsWith('.json'))
    throw new SluiceError('INVALID_CONFIG', `"${file}" is code, which is not edited. Add to its agents: ${entry}`);
  const text = await readSmallFile(file, MAX_CONFIG_BYTES);
  const settings = text === undefined ? {} : parseJson(text);
  const agents = isRecord(settings) ? (getField(settings, 'agents') ?? {}) : undefined;
  if (!isRecord(settings) || !isRecord(agents))
    throw new SluiceError('INVALID_CONFIG', `"${file}" does not contain a configuration. Correct it, then try again.`);
  if (Object.hasOwn(agents, name))
    throw new SluiceError(
      'TARGET_EXISTS',
      `"${file}" already has agents.${name}, and was not changed. Edit it instead.`,
    );
  const changed = { ...settings, agents: { ...agents, [name]: agent } };
  await replaceFile(file, `${JSON.stringify(changed, null, 2)}\n`);
}
