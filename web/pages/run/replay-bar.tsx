import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { formatOffset, findEnd, findStart } from './clock.js';
import type { OpenRun } from './open-run.js';
import { firstAbove } from './sorted-search.js';

/** Goes through a run again: a slider over its time, play and pause, how fast. At the end is everything. */
export function ReplayBar({ run }: { readonly run: OpenRun }) {
  void run.beats.page.value;
  const isPlaying = useSignal(false);
  const speed = useSignal<number>(SPEEDS[0]);
  const hasTime = findEnd(run) > findStart(run);
  const start = hasTime ? findStart(run) : 0;
  const end = hasTime ? findEnd(run) : 1;
  const moment = run.moment.value ?? end;

  useEffect(() => {
    if (!isPlaying.value) return;
    let last = performance.now();
    let frame = requestAnimationFrame(function step(now) {
      const { conversation, list } = run.lenses;
      const times = pickLonger(list.times, conversation.times);
      const next = advance(times, run.moment.value ?? findStart(run), now - last, speed.value);
      last = now;
      const isOver = next >= (times.at(-1) ?? 0);
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
          // From the end, play starts over.
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
        aria-label="Position in the run"
        aria-valuetext={`${formatOffset(moment - start)} of ${formatOffset(end - start)}`}
        onInput={({ currentTarget }) => {
          isPlaying.value = false;
          run.moment.value = sliderMoment(currentTarget.valueAsNumber, start, end);
        }}
      />
      <output class="clock">{hasTime ? `${formatOffset(moment - start)} / ${formatOffset(end - start)}` : '–'}</output>
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
const MAX_WAIT_MS = 1500;

/** How fast a run can be replayed. */
const SPEEDS = [1, 2, 5, 20, 100] as const;

/** The longer of the time series of two lenses: the other may be truncated or disconnected. */
export function pickLonger(one: readonly number[], other: readonly number[]): readonly number[] {
  return (one.at(-1) ?? 0) >= (other.at(-1) ?? 0) ? one : other;
}

/** Returns the distance between the stops of a slider over this many milliseconds. */
export function sliderStep(lengthMs: number): number {
  return Math.max(1, Math.round(lengthMs / 1000));
}

/** The moment of a slider position; null for the last one, which is the end even if it is slightly before it. */
export function sliderMoment(ms: number, start: number, end: number): number | null {
  const length = end - start;
  return ms + sliderStep(length) > length ? null : start + ms;
}

/**
 * The position of a replay after some milliseconds at a speed. Long silences are shortened.
 */
export function advance(times: readonly number[], moment: number, elapsedMs: number, speed: number): number {
  const wanted = moment + elapsedMs * speed;
  const end = times.at(-1) ?? moment;
  const next = times[firstAbove(times, moment)];
  if (next === undefined || wanted >= end) return Math.max(moment, end);
  return Math.max(wanted, next - MAX_WAIT_MS * speed);
}
