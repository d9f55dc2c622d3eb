import { expect, test } from 'vitest';
import { createRowBudget } from './list-viewport.js';

/** Creates a row budget whose frames and tasks are triggered by the test. */
function createTestBudget(limit: number) {
  const frames: (() => void)[] = [];
  const tasks: (() => void)[] = [];
  const budget = createRowBudget(
    { afterFrame: (run) => void frames.push(run), afterTask: (run) => void tasks.push(run) },
    limit,
  );
  const runAll = (queue: (() => void)[]): void => {
    for (const run of queue.splice(0)) run();
  };
  return { ...budget, frames, frame: () => runAll(frames), task: () => runAll(tasks) };
}

test('limits the rows that all lists together create in a frame', () => {
  const budget = createTestBudget(8);
  expect([budget.grant(5), budget.grant(5), budget.grant(5)]).toEqual([5, 3, 0]);
  budget.frame();
  expect(budget.grant(20)).toBe(8);
});

test('waiting lists are drawn one per frame, in order of arrival', () => {
  const budget = createTestBudget(8);
  const drawnLists: string[] = [];
  for (const name of ['events', 'raw']) {
    budget.wait(() => {
      drawnLists.push(`${name} ${budget.grant(12)}`);
    });
  }
  budget.frame();
  expect(drawnLists).toEqual(['events 8']);
  budget.task();
  budget.frame();
  expect(drawnLists).toEqual(['events 8', 'raw 8']);
});

test('a list that waits twice is drawn once', () => {
  const budget = createTestBudget(8);
  let drawCount = 0;
  const draw = (): void => void (drawCount += 1);
  budget.wait(draw);
  budget.wait(draw);
  budget.frame();
  budget.frame();
  expect(drawCount).toBe(1);
});

test('rows created in one turn do not count against the next frame', () => {
  const budget = createTestBudget(8);
  budget.wait(() => void budget.grant(8));
  budget.frame();
  expect(budget.grant(3)).toBe(0);
  budget.task();
  expect(budget.grant(3)).toBe(3);
});

test('a removed list is not drawn', () => {
  const budget = createTestBudget(8);
  let drawCount = 0;
  const draw = (): void => void (drawCount += 1);
  budget.wait(draw);
  budget.leave(draw);
  budget.frame();
  expect(drawCount).toBe(0);
});

test('requests no frame while no list is waiting', () => {
  const budget = createTestBudget(8);
  budget.grant(0);
  expect(budget.frames).toHaveLength(0);
  budget.grant(1);
  budget.frame();
  budget.task();
  expect(budget.frames).toHaveLength(0);
});
