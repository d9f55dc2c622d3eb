import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeFolder } from '../../../test/temporary-folder.js';
import { addAgentToConfig } from './add-agent.js';
import { parseConfigJson } from './load-config.js';

const AGENT = { acp: ['pi-acp'] };

async function add(text: string): Promise<string> {
  const file = join(await makeFolder({}), 'sluice.config.json');
  await writeFile(file, text);
  await addAgentToConfig(file, 'pi', AGENT);
  return readFile(file, 'utf8');
}

describe('adding an agent to a configuration', () => {
  it('keeps comments', async () => {
    const text = '// Ours.\n{\n  // How long.\n  "lease_s": 5\n}\n';
    const changed = await add(text);
    expect(changed).toContain('// Ours.\n{');
    expect(changed).toContain('// How long.\n  "lease_s": 5');
    expect(parseConfigJson(changed)).toEqual({ lease_s: 5, agents: { pi: AGENT } });
    expect(parseConfigJson(await add('{ /* empty */ }'))).toEqual({ agents: { pi: AGENT } });
  });

  it('adds to the agents of a file without comments', async () => {
    expect(parseConfigJson(await add('{"agents": {"a": {"acp": ["a"]}}}'))).toEqual({
      agents: { a: { acp: ['a'] }, pi: AGENT },
    });
  });

  it.each([
    ['comments and agents', '{ // x\n "agents": {} }', 'Add: {"pi":'],
    ['a brace in a comment before it', '/*\n{ */ { "lease_s": 5 } // x', 'Add: {"pi":'],
    ['no configuration', '[1', 'does not contain a configuration'],
    ['this agent', '{"agents": {"pi": {"acp": ["x"]}}}', 'already has agents.pi'],
  ])('leaves a file with %s unchanged, and says why', async (_, text, why) => {
    const file = join(await makeFolder({ 'c.json': text }), 'c.json');
    await expect(addAgentToConfig(file, 'pi', AGENT)).rejects.toThrow(why);
    expect(await readFile(file, 'utf8')).toBe(text);
  });
});
