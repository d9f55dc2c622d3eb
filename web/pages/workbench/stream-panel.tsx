import { useSignal, type Signal } from '@preact/signals';
import { formatCount, SafeText } from '../../ui/text.js';
import { useEffect, useRef } from 'preact/hooks';
import { Badge, StateBadge, Button } from '../../ui/parts.js';
import { choosePace, type StreamView } from './text-reader.js';
import { explain, ValueRowsView } from './findings.js';
import type { TextReading } from './use-inspection.js';
import { t } from './texts.js';

/** The available speeds, in characters per second: from a slow model to a file on disk. */
const SPEEDS = [10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 20_000, 200_000, 2_000_000] as const;
const CHUNK_LENGTHS = [1, 2, 4, 8, 16, 32, 64, 128, 512] as const;

/** Streams the input as if a model were still writing it, and shows the growing value. */
export function StreamPanel(props: Readonly<{ reading: TextReading | null; fail: (error: unknown) => void }>) {
  const { reading, fail } = props;
  const view = useSignal<StreamView | null>(null);
  const isPlaying = useSignal(false);
  const speed = useSignal(3);
  const size = useSignal(2);

  const chunkLength = CHUNK_LENGTHS[size.value] ?? 1;
  const show = async (pending: Promise<StreamView | null> | undefined): Promise<void> => {
    try {
      const next = await pending;
      if (next === null || next === undefined) return;
      view.value = next;
      if (next.ended !== null) isPlaying.value = false;
    } catch (error) {
      isPlaying.value = false;
      fail(error);
    }
  };
  const step = async (chunkCount = 1): Promise<void> => show(reading?.pushStream(chunkLength, chunkCount));
  const restart = (): void => {
    isPlaying.value = false;
    void show(reading?.restartStream());
  };

  // Starts over when the input, the schema or an option changes.
  useEffect(restart, [reading]);
  useEffect(() => {
    if (!isPlaying.value) return;
    const { intervalMs, chunkCount } = choosePace(SPEEDS[speed.value] ?? 100, chunkLength);
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isActive = true;
    const continueStream = async (): Promise<void> => {
      await step(chunkCount);
      if (isActive) timer = setTimeout(() => void continueStream(), intervalMs);
    };
    void continueStream();
    return () => {
      isActive = false;
      clearTimeout(timer);
    };
  }, [isPlaying.value, speed.value, size.value]);

  const currentView = view.value;
  const tail = useRef<HTMLPreElement>(null);
  useEffect(() => {
    if (tail.current !== null) tail.current.scrollTop = tail.current.scrollHeight;
  }, [currentView?.received]);
  const value = currentView?.value ?? null;
  const isEnded = currentView?.ended !== undefined && currentView.ended !== null;
  return (
    <section class="card stack" aria-labelledby="workbench-stream">
      <div class="row">
        <h2 id="workbench-stream">{t.streaming}</h2>
        <Button
          label={isPlaying.value ? t.pause : t.play}
          disabled={reading === null || isEnded}
          onClick={() => (isPlaying.value = !isPlaying.value)}
        />
        <Button label={t.step} disabled={reading === null || isPlaying.value || isEnded} onClick={() => void step()} />
        <Button label={t.restart} disabled={currentView === null || currentView.received === 0} onClick={restart} />
        <Slider
          label={t.speed}
          at={speed}
          count={SPEEDS.length}
          unit={t.charactersPerSecond(formatCount(SPEEDS[speed.value] ?? 0))}
        />
        <Slider label={t.chunk} at={size} count={CHUNK_LENGTHS.length} unit={t.characters(chunkLength)} />
      </div>
      <div class="streamed stack">
        <div class="stack">
          <progress
            aria-label={t.progress}
            value={currentView?.received ?? 0}
            max={Math.max(1, currentView?.length ?? 1)}
          />
          <pre ref={tail} class="tail" tabIndex={0} role="region" aria-label={t.outputReceivedSoFar}>
            <SafeText text={currentView?.tail ?? ''} />
          </pre>
        </div>
        <div class="stack">
          <div class="row stream-state">
            <StreamState view={currentView} />
          </div>
          {value === null ? (
            <div class="value-rows dim">
              {currentView === null || currentView.received === 0 ? t.playOrStepToStream : t.noValueYet}
            </div>
          ) : (
            <ValueRowsView value={value} label={t.theValueSoFar} />
          )}
        </div>
      </div>
    </section>
  );
}

function Slider(props: Readonly<{ label: string; at: Signal<number>; count: number; unit: string }>) {
  const { label, at, count, unit } = props;
  return (
    <label class="slider">
      {label}
      <input
        type="range"
        min={0}
        max={count - 1}
        value={at.value}
        aria-valuetext={unit}
        onInput={({ currentTarget }) => (at.value = Number(currentTarget.value))}
      />
      <span class="dim">{unit}</span>
    </label>
  );
}

function StreamState({ view }: Readonly<{ view: StreamView | null }>) {
  if (view === null || view.length === 0) return null;
  if (view.ended !== null) {
    return (
      <>
        <StateBadge state={view.ended.status} />
        <SafeText as="span" text={explain(view.ended.message)} limit={300} />
      </>
    );
  }
  return (
    <>
      <Badge tone={view.complete ? 'good' : 'plain'}>{view.complete ? t.complete : t.growing}</Badge>
      <span class="dim">
        {view.changed.length === 0 ? t.nothingChanged : t.changed}
        <SafeText text={view.changed.map((path) => (path === '' ? t.root : path)).join(', ')} limit={200} />
      </span>
    </>
  );
}
