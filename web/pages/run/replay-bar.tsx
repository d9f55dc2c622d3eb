import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { offsetOf } from './clock.js';
import type { OpenRun } from './open-run.js';
import { SPEEDS, advance } from './replay.js';
import { endOf, startOf } from './start-of.js';

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
      const next = advance(run.lenses.list.times, run.moment.value ?? startOf(run), now - last, speed.value);
      last = now;
      const isOver = next >= endOf(run);
      run.moment.value = isOver ? null : next;
      if (isOver) isPlaying.value = false;
      else frame = requestAnimationFrame(step);
    });
    return () => cancelAnimationFrame(frame);
  }, [isPlaying.value]);

  const goTo = (ms: number): void => {
    run.moment.value = start + ms >= end ? null : start + ms;
  };
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
        step={Math.max(1, Math.round((end - start) / 1000))}
        value={moment - start}
        aria-label="Moment of the run"
        aria-valuetext={`${offsetOf(moment - start)} of ${offsetOf(end - start)}`}
        onInput={({ currentTarget }) => {
          isPlaying.value = false;
          goTo(currentTarget.valueAsNumber);
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
