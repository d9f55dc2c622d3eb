import { execFileSync } from 'node:child_process';

/** Builds `dist` once before the tests that run it. */
export function setup(): void {
  execFileSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit', shell: process.platform === 'win32' });
}
