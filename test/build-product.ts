import { execFileSync } from 'node:child_process';

/** Several projects need the build; set-ups of one run of the tests share a process, if not their modules. */
const BUILT = Symbol.for('sluice.tests.built');

/** Builds `dist` once before the tests that run it. */
export function setup(): void {
  if (Reflect.has(globalThis, BUILT)) return;
  execFileSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit', shell: process.platform === 'win32' });
  Reflect.set(globalThis, BUILT, true);
}
