import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';
import type { LaunchedProcess, OutputSink } from './launched-process.js';
import { explainNotStarted } from './not-started.js';
import type { ProcessCommand } from './process-command.js';
import { identifyProcess } from './process-identity.js';
import type { ProcessEnd } from './running-process.js';

/** Starts a program with stdout and stderr in pipes of their own. */
export async function launchWithPipes(command: ProcessCommand, sink: OutputSink): Promise<LaunchedProcess> {
  let child: ChildProcess;
  try {
    const [program, ...args] = command.command;
    child = spawn(program, args, {
      cwd: command.cwd,
      env: { ...command.env },
      // Detached makes it the leader of a new group, which can be ended as a whole.
      detached: process.platform !== 'win32',
      windowsHide: true,
      shell: false,
      stdio: [command.stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    });
  } catch (cause) {
    throw await explainNotStarted(command, cause);
  }
  const { pid, stdin, stdout, stderr } = child;
  // Asked in the same turn as the start: until the loop turns, even a process that is gone already can be asked about.
  const identified = pid === undefined ? undefined : identifyProcess(pid);
  const failure = new Promise<never>((_resolve, reject) => {
    // Listened to for good: an error nobody listens to would end Sluice.
    child.on('error', reject);
  });
  const exited = new Promise<ProcessEnd>((resolve) => {
    child.once('exit', (exitCode, signal) => {
      stdin?.destroy();
      resolve({ exitCode, signal });
    });
  });
  const streams = [stdout, stderr].filter((stream) => stream !== null);
  let open = streams.length;
  const closeOne = (): void => {
    open -= 1;
    if (open === 0) sink.end();
  };
  if (stdout !== null) forward(stdout, (bytes) => sink.push('stdout', bytes), closeOne);
  if (stderr !== null) forward(stderr, (bytes) => sink.push('stderr', bytes), closeOne);
  const started = new Promise<void>((resolve) => {
    child.once('spawn', resolve);
  });
  // A child may end without reading what it was given.
  stdin?.on('error', () => undefined);
  try {
    await Promise.race([started, failure]);
  } catch (cause) {
    throw await explainNotStarted(command, cause);
  }
  failure.catch(() => undefined);
  if (pid === undefined) throw await explainNotStarted(command, undefined);
  stdin?.end(command.stdin);
  return {
    identity: (await identified) ?? { pid, started: null },
    exited,
    flow(isFlowing) {
      for (const stream of streams) {
        if (isFlowing) stream.resume();
        else stream.pause();
      }
    },
    close() {
      for (const stream of streams) stream.destroy();
    },
  };
}

function forward(stream: Readable, push: (bytes: Uint8Array) => void, closed: () => void): void {
  stream.on('data', push);
  // A broken pipe ends the stream like any other end.
  stream.on('error', () => undefined);
  stream.once('close', closed);
}
