import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run, runTool, type ToolRun } from '../run-tool.js';

const TSCONFIG = {
  compilerOptions: {
    target: 'es2023',
    module: 'nodenext',
    // A program has `AbortSignal` from the browser's types or from Node.js's; these need no package.
    lib: ['es2023', 'dom'],
    types: [],
    strict: true,
    exactOptionalPropertyTypes: true,
    // The package's own declarations are checked too.
    skipLibCheck: false,
    noEmitOnError: true,
  },
  files: ['program.ts'],
};

/**
 * Installs a packed package in a new project in `folder`, compiles a program there and runs it. Returns the first
 * failed step, or the program's run.
 */
export async function tryAsConsumer(tarball: string, program: string, folder: string): Promise<ToolRun> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'package.json'), JSON.stringify({ name: 'consumer', private: true, type: 'module' }));
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(TSCONFIG));
  await copyFile(program, join(folder, 'program.ts'));
  const install = ['install', '--silent', '--prefer-offline', '--no-audit', '--no-fund', tarball];
  const steps = [
    async () => run('npm', install, folder),
    async () => runTool('tsc', ['-p', '.'], folder),
    async () => run(process.execPath, ['program.js'], folder),
  ];
  let last: ToolRun = { exitCode: 0, stdout: '', stderr: '' };
  for (const step of steps) {
    last = await step();
    if (last.exitCode !== 0) return last;
  }
  return last;
}
