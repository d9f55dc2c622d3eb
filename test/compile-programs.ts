import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT, runTool, type ToolRun } from '../scripts/run-tool.js';

/** Without paths to the sources, so `sluice` is the built package, as for a user. */
const TSCONFIG = {
  extends: '../../tsconfig.json',
  compilerOptions: { paths: {}, noEmit: false, jsx: 'react-jsx', jsxImportSource: 'react' },
  include: ['.'],
};

/** A page's compiled programs. */
export interface CompiledPrograms {
  /** The compiler output. */
  readonly compiled: ToolRun;
  /** Returns a program's path, by its name without the extension. */
  readonly getFile: (name: string) => string;
  readonly remove: () => void;
}

/** Compiles programs (file name → source) as in a project that has installed the package. */
export async function compilePrograms(programs: ReadonlyMap<string, string>): Promise<CompiledPrograms> {
  // Inside the project, where the package and its dependencies can be imported by name.
  const folder = mkdtempSync(join(PROJECT, 'dist', 'programs-'));
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(TSCONFIG));
  for (const [name, text] of programs) writeFileSync(join(folder, name), text);
  return {
    compiled: await runTool('tsc', ['-p', folder], PROJECT),
    getFile: (name) => join(folder, `${name}.js`),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
