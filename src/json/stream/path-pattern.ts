import { pathOf, type Place } from '../reader/value-builder.js';

/** Whether a place fits a pattern such as `items.*.name`; `*` stands for one key or index. */
export type PathPattern = (place: Place) => boolean;

/** Reads a pattern once. A place of another depth is told from a fitting one without writing out its path. */
export function compilePattern(pattern: string): PathPattern {
  const steps = pattern === '' ? [] : pattern.split('.');
  return (place) => {
    if (place.container?.depth !== steps.length) return false;
    const path = pathOf(place);
    return steps.every((step, index) => step === '*' || step === String(path[index]));
  };
}
