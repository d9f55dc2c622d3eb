import UPlot from 'uplot';
import { formatFigure, lonePoints } from './chart-model.js';
import type { ChartModel, SeriesTone } from './chart-model.js';
import { timeMark } from './chart-range.js';
import 'uplot/dist/uPlot.min.css';

const HEIGHT = 200;
/** Lines differ in their dashes too: colour alone is not enough for everyone. */
const DASHES: readonly number[][] = [[], [6, 3], [2, 3], [10, 3, 2, 3], [12, 4], [1, 5]];

/** Where lines cross, the one under the pointer stays and the others fade. */
const FOCUS_PX = 20;
const FADED = 0.2;

/** There is no quarter of a run. */
const WHOLE_STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 50_000];

/** Draws a chart into an element; the answer takes it away again. */
export function drawChart(box: HTMLElement, chart: ChartModel): () => void {
  const colours = readColours(box);
  const axis = {
    stroke: colours.dim,
    grid: { stroke: colours.line, width: 1 },
    ticks: { stroke: colours.line, width: 1 },
  };
  const plot = new UPlot(
    {
      width: Math.max(200, box.clientWidth),
      height: HEIGHT,
      // The page has its own legend, with text that wraps.
      legend: { show: false },
      cursor: { drag: { x: false, y: false }, focus: { prox: FOCUS_PX } },
      focus: { alpha: FADED },
      scales: { y: { range: (_plot, _least, most) => [0, Math.max(1, most * 1.1)] } },
      axes: [
        { ...axis, size: 30, values: (_plot, marks) => marks.map(timeMark) },
        {
          ...axis,
          size: 90,
          ...(chart.unit === 'count' && { incrs: WHOLE_STEPS }),
          values: (_plot, marks) => marks.map((mark) => formatFigure(mark, chart.unit)),
        },
      ],
      series: [
        {},
        ...chart.series.map(({ label, tone, values }, index) => ({
          label,
          stroke: colours[tone],
          width: 2,
          dash: DASHES[index] ?? [],
          points: { show: false, size: 5, filter: () => lonePoints(values) },
        })),
      ],
    },
    [[...chart.times], ...chart.series.map(({ values }) => [...values])],
    box,
  );
  const watch = new ResizeObserver(() => plot.setSize({ width: Math.max(200, box.clientWidth), height: HEIGHT }));
  watch.observe(box);
  return () => {
    watch.disconnect();
    plot.destroy();
  };
}

/** The colours of the theme in use, as a canvas takes them. */
type Colours = Readonly<Record<SeriesTone | 'line', string>>;

/** Reads the tokens through an element: a canvas does not know `light-dark()`. */
function readColours(within: HTMLElement): Colours {
  const probe = document.createElement('span');
  within.append(probe);
  const read = (token: string): string => {
    probe.style.color = `var(--${token})`;
    return getComputedStyle(probe).color;
  };
  const colours = {
    good: read('good'),
    warn: read('warn'),
    bad: read('bad'),
    accent: read('accent'),
    dim: read('dim'),
    text: read('text'),
    line: read('line'),
  };
  probe.remove();
  return colours;
}
