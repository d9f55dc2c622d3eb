import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT, runTool, type ToolRun } from '../scripts/run-tool.js';

/** Without paths to the sources: `sluice` is the built package here, as it is for a user. */
const TSCONFIG = {
  extends: '../../tsconfig.json',
  compilerOptions: { paths: {}, noEmit: false, jsx: 'react-jsx', jsxImportSource: 'react' },
  include: ['.'],
};

/** Programs of a page, compiled. */
export interface CompiledPrograms {
  /** The output of the compiler. */
  readonly compiled: ToolRun;
  /** Where Node.js finds a program, by its name without the extension. */
  readonly getFile: (name: string) => string;
  readonly remove: () => void;
}

/** Compiles programs (file name → text) as in a project that has installed the package. */
export async function compilePrograms(programs: ReadonlyMap<string, string>): Promise<CompiledPrograms> {
  // Inside the project, where the package is known by its own name and so are the others.
  const folder = mkdtempSync(join(PROJECT, 'dist', 'programs-'));
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(TSCONFIG));
  for (const [name, text] of programs) writeFileSync(join(folder, name), text);
  return {
    compiled: await runTool('tsc', ['-p', folder], PROJECT),
    getFile: (name) => join(folder, `${name}.js`),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
