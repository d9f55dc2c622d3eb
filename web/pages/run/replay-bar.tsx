import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { formatOffset, findEnd, findStart } from './clock.js';
import type { OpenRun } from './open-run.js';
import { findFirstAbove } from './byte-ranges.js';
import { Button } from '../../ui/button.js';

/** Replay controls: play and pause, a position slider, and the speed. At the end, everything is shown. */
export function ReplayBar({ run }: Readonly<{ run: OpenRun }>) {
  void run.redraws.page.value;
  const isPlaying = useSignal(false);
  const speed = useSignal<number>(SPEEDS[0]);
  const hasTime = findEnd(run) > findStart(run);
  const start = hasTime ? findStart(run) : 0;
  const end = hasTime ? findEnd(run) : 1;
  const position = run.replayTime.value ?? end;

  useEffect(() => {
    if (!isPlaying.value) return;
    let last = performance.now();
    let frame = requestAnimationFrame(function step(now) {
      const { conversation, list } = run.data;
      const times = chooseLongerTimes(list.times, conversation.times);
      const next = advance(times, run.replayTime.value ?? findStart(run), now - last, speed.value);
      last = now;
      const isOver = next >= (times.at(-1) ?? 0);
      run.replayTime.value = isOver ? null : next;
      if (isOver) isPlaying.value = false;
      else frame = requestAnimationFrame(step);
    });
    return () => cancelAnimationFrame(frame);
  }, [isPlaying.value]);

  return (
    <div class="replay" role="group" aria-label="Replay">
      <Button
        label={isPlaying.value ? 'Pause' : 'Replay'}
        disabled={!hasTime}
        onClick={() => {
          // At the end, the replay starts over.
          if (!isPlaying.value && run.replayTime.value === null) run.replayTime.value = start;
          isPlaying.value = !isPlaying.value;
        }}
      />
      <input
        type="range"
        disabled={!hasTime}
        min={0}
        max={end - start}
        step={chooseSliderStep(end - start)}
        value={position - start}
        aria-label="Position in the run"
        aria-valuetext={`${formatOffset(position - start)} of ${formatOffset(end - start)}`}
        onInput={({ currentTarget }) => {
          isPlaying.value = false;
          run.replayTime.value = readSliderMoment(currentTarget.valueAsNumber, start, end);
        }}
      />
      <output class="clock">
        {hasTime ? `${formatOffset(position - start)} / ${formatOffset(end - start)}` : '–'}
      </output>
      <label>
        <span class="visually-hidden">Speed</span>
        <select value={speed.value} onChange={({ currentTarget }) => (speed.value = Number(currentTarget.value))}>
          {SPEEDS.map((factor) => (
            <option key={factor} value={factor}>
              {factor}×
            </option>
          ))}
        </select>
      </label>
    </div>
  );
}

/** The longest pause between two events in a replay. */
const MAX_WAIT_MS = 1500;

const SPEEDS = [1, 2, 5, 20, 100] as const;

/** Returns the times of the pane that ends later: the other can be truncated or disconnected. */
export function chooseLongerTimes(one: readonly number[], other: readonly number[]): readonly number[] {
  return (one.at(-1) ?? 0) >= (other.at(-1) ?? 0) ? one : other;
}

/** Returns the step size of a slider over this many milliseconds. */
export function chooseSliderStep(lengthMs: number): number {
  return Math.max(1, Math.round(lengthMs / 1000));
}

/** Returns the time at a slider position; null for the last one, which means the end. */
export function readSliderMoment(ms: number, start: number, end: number): number | null {
  const length = end - start;
  return ms + chooseSliderStep(length) > length ? null : start + ms;
}

/** Advances a replay by `elapsedMs` at a speed. Long pauses are shortened. */
export function advance(times: readonly number[], position: number, elapsedMs: number, speed: number): number {
  const target = position + elapsedMs * speed;
  const end = times.at(-1) ?? position;
  const next = times[findFirstAbove(times, position)];
  if (next === undefined || target >= end) return Math.max(position, end);
  return Math.max(target, next - MAX_WAIT_MS * speed);
}
