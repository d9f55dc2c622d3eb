import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the project. */
export const PROJECT = fileURLToPath(new URL('..', import.meta.url));

/** A process's exit code and output. */
export interface ToolRun {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs an installed development tool (`tsc`, `publint`, …) in a folder; resolves even if the tool fails. */
export async function runTool(name: string, args: readonly string[], cwd: string): Promise<ToolRun> {
  return run(join(PROJECT, 'node_modules', '.bin', name), args, cwd);
}

/** Runs a command in a folder and waits for it to exit. */
export async function run(program: string, args: readonly string[], cwd: string, input = ''): Promise<ToolRun> {
  return new Promise((resolve, reject) => {
    // On Windows the tools are batch files, which only a shell can start.
    const child = spawn(program, args, { cwd, shell: process.platform === 'win32' });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    child.on('error', reject);
    child.on('close', (code) => {
      resolve({ exitCode: code ?? 1, stdout, stderr });
    });
    // A process can exit without reading its input.
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
  });
}
