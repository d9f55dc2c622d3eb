/** Paths on a grid of 24 × 24, drawn in the colour of the surrounding text. */
const PATHS = {
  brand: 'M4 5h16M7 5v5l5 4 5-4V5M12 14v6',
  runs: 'M6 4l13 8-13 8z',
  inbox: 'M3 13l3-8h12l3 8v6H3zM3 13h5l1 3h6l1-3h5',
  issues: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 8v5M12 16v.5',
  outbox: 'M3 11l18-7-6 17-4-7zM21 4L11 14',
  executions: 'M6 3h9l4 4v14H6zM9 11h7M9 15h7',
  workbench: 'M8 4c-3 0-2 4-2 6s-2 2-2 2 2 0 2 2-1 6 2 6M16 4c3 0 2 4 2 6s2 2 2 2-2 0-2 2 1 6-2 6',
  workers: 'M4 5h16v6H4zM4 13h16v6H4zM8 8h.5M8 16h.5',
  charts: 'M4 4v16h16M8 15l4-5 3 3 5-7',
  search: 'M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM16 16l5 5',
  theme: 'M12 4a8 8 0 1 0 8 8 6 6 0 0 1-8-8z',
  leave: 'M10 4H5v16h5M14 8l4 4-4 4M18 12H9',
  book: 'M5 4h6a2 2 0 0 1 2 2v14a2 2 0 0 0-2-2H5zM19 4h-4a2 2 0 0 0-2 2',
} as const;

/** The name of an icon. */
export type IconName = keyof typeof PATHS;

/** An icon. It always has a text equivalent next to it, so it is hidden from screen readers. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" width="20" height="20" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
