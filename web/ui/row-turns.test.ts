import { expect, test } from 'vitest';
import { createRowTurns } from './row-turns.js';

/** Creates a scheduler whose frames and tasks are triggered by the test. */
function createTurns(limit: number) {
  const frames: (() => void)[] = [];
  const tasks: (() => void)[] = [];
  const turns = createRowTurns(
    { afterFrame: (run) => void frames.push(run), afterTask: (run) => void tasks.push(run) },
    limit,
  );
  const runAll = (queue: (() => void)[]): void => {
    for (const run of queue.splice(0)) run();
  };
  return { ...turns, frames, frame: () => runAll(frames), task: () => runAll(tasks) };
}

test('limits the rows that all lists together create in a frame', () => {
  const turns = createTurns(8);
  expect([turns.grant(5), turns.grant(5), turns.grant(5)]).toEqual([5, 3, 0]);
  turns.frame();
  expect(turns.grant(20)).toBe(8);
});

test('waiting lists are drawn one per frame, in order of arrival', () => {
  const turns = createTurns(8);
  const drawn: string[] = [];
  for (const name of ['events', 'raw']) {
    turns.wait(() => {
      drawn.push(`${name} ${turns.grant(12)}`);
    });
  }
  turns.frame();
  expect(drawn).toEqual(['events 8']);
  turns.task();
  turns.frame();
  expect(drawn).toEqual(['events 8', 'raw 8']);
});

test('a list that waits twice is drawn once', () => {
  const turns = createTurns(8);
  let drawn = 0;
  const draw = (): void => void (drawn += 1);
  turns.wait(draw);
  turns.wait(draw);
  turns.frame();
  turns.frame();
  expect(drawn).toBe(1);
});

test('rows created in a turn do not count against the next frame', () => {
  const turns = createTurns(8);
  turns.wait(() => void turns.grant(8));
  turns.frame();
  expect(turns.grant(3)).toBe(0);
  turns.task();
  expect(turns.grant(3)).toBe(3);
});

test('a removed list is not drawn', () => {
  const turns = createTurns(8);
  let drawn = 0;
  const draw = (): void => void (drawn += 1);
  turns.wait(draw);
  turns.leave(draw);
  turns.frame();
  expect(drawn).toBe(0);
});

test('requests no frame while no list is waiting', () => {
  const turns = createTurns(8);
  turns.grant(0);
  expect(turns.frames).toHaveLength(0);
  turns.grant(1);
  turns.frame();
  turns.task();
  expect(turns.frames).toHaveLength(0);
});
