import { signal } from '@preact/signals';

const query = matchMedia('(max-width: 64rem)');

/** Whether there is room for one lens only. */
export const isNarrow = signal(query.matches);

query.addEventListener('change', ({ matches }) => (isNarrow.value = matches));
