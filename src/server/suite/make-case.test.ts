import { describe, expect, it } from 'vitest';
import { makeFolder } from '../../../test/temporary-folder.js';
import { openRunFolder } from '../../runs/run-folder/index.js';
import { compileSecrets } from '../../runs/index.js';
import { writeCase } from './case-folder.js';
import { makeFolderCase } from './make-case.js';

describe('makeFolderCase', () => {
  it.each([
    ['.hidden run!', 'hidden_run_'],
    ['--', 'case'],
    ['a'.repeat(120), 'a'.repeat(100)],
  ])('suggests a valid name for the folder "%s"', async (name, expected) => {
    const root = await makeFolder({
      [`${name}/.audit/meta.1.json`]: '{"engine":"command"}',
      [`${name}/.audit/stdout.1.log`]: 'done\n',
    });
    const folder = await openRunFolder(`${root}/${name}`);
    const secrets = compileSecrets({ values: [] });
    const newCase = await makeFolderCase({ folder, contract: undefined, secrets, clock: () => 0 });
    expect(newCase.name).toBe(expected);
    await writeCase(await makeFolder({}), newCase.name, newCase.files);
  });
});
