import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { offsetOf, endOf, startOf } from './clock.js';
import type { OpenRun } from './open-run.js';
import { firstAbove } from './sorted-search.js';

/** Goes through a run again: a slider over its time, play and pause, how fast. At the end is everything. */
export function ReplayBar({ run }: { readonly run: OpenRun }) {
  void run.beats.page.value;
  const isPlaying = useSignal(false);
  const speed = useSignal<number>(SPEEDS[0]);
  const hasTime = endOf(run) > startOf(run);
  const start = hasTime ? startOf(run) : 0;
  const end = hasTime ? endOf(run) : 1;
  const moment = run.moment.value ?? end;

  useEffect(() => {
    if (!isPlaying.value) return;
    let last = performance.now();
    let frame = requestAnimationFrame(function step(now) {
      const { conversation, list } = run.lenses;
      const times = longerOf(list.times, conversation.times);
      const next = advance(times, run.moment.value ?? startOf(run), now - last, speed.value);
      last = now;
      const isOver = next >= endOf(run);
      run.moment.value = isOver ? null : next;
      if (isOver) isPlaying.value = false;
      else frame = requestAnimationFrame(step);
    });
    return () => cancelAnimationFrame(frame);
  }, [isPlaying.value]);

  return (
    <div class="replay" role="group" aria-label="Replay">
      <button
        type="button"
        disabled={!hasTime}
        onClick={() => {
          // From the end, play begins anew.
          if (!isPlaying.value && run.moment.value === null) run.moment.value = start;
          isPlaying.value = !isPlaying.value;
        }}
      >
        {isPlaying.value ? 'Pause' : 'Replay'}
      </button>
      <input
        type="range"
        disabled={!hasTime}
        min={0}
        max={end - start}
        step={sliderStep(end - start)}
        value={moment - start}
        aria-label="Moment of the run"
        aria-valuetext={`${offsetOf(moment - start)} of ${offsetOf(end - start)}`}
        onInput={({ currentTarget }) => {
          isPlaying.value = false;
          run.moment.value = sliderMoment(currentTarget.valueAsNumber, start, end);
        }}
      />
      <output class="clock">{hasTime ? `${offsetOf(moment - start)} / ${offsetOf(end - start)}` : '–'}</output>
      <label>
        <span class="unseen">Speed</span>
        <select value={speed.value} onChange={({ currentTarget }) => (speed.value = Number(currentTarget.value))}>
          {SPEEDS.map((one) => (
            <option key={one} value={one}>
              {one}×
            </option>
          ))}
        </select>
      </label>
    </div>
  );
}

/** Between two events that are further apart than this, a replay does not wait longer. */
const LONGEST_WAIT_MS = 1500;

/** How fast a run can be replayed. */
const SPEEDS = [1, 2, 5, 20, 100] as const;

/** Of the times of two lenses those that go on for longer: the other one may have been cut off, or its connection lost. */
export function longerOf(one: readonly number[], other: readonly number[]): readonly number[] {
  return (one.at(-1) ?? 0) >= (other.at(-1) ?? 0) ? one : other;
}

/** How far apart the stops of a slider over so many milliseconds are. */
export function sliderStep(lengthMs: number): number {
  return Math.max(1, Math.round(lengthMs / 1000));
}

/** The moment a stop of the slider stands for; null for the last one, which is the end though it may lie short of it. */
export function sliderMoment(ms: number, start: number, end: number): number | null {
  const length = end - start;
  return ms + sliderStep(length) > length ? null : start + ms;
}

/**
 * Where a replay stands after so many milliseconds more at a speed. Silence is cut short: nobody waits ten minutes for a
 * compiler a second time.
 */
export function advance(times: readonly number[], moment: number, elapsedMs: number, speed: number): number {
  const wanted = moment + elapsedMs * speed;
  const end = times.at(-1) ?? moment;
  const next = times[firstAbove(times, moment)];
  if (next === undefined || wanted >= end) return Math.max(moment, end);
  return Math.max(wanted, next - LONGEST_WAIT_MS * speed);
}
