import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { offsetOf } from './clock.js';
import type { OpenRun } from './open-run.js';
import { SPEEDS, advance, longerOf, sliderMoment, sliderStep } from './replay.js';
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
