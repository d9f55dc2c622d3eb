import { Option } from 'commander';
import type { RunFolderWarning } from '../runs/run-folder/index.js';
import { ENGINE_NAMES } from '../events/index.js';
import { formatLine } from './terminal-text.js';

/** Creates the option `--engine` for commands that read run folders. */
export function createEngineOption(): Option {
  const names = [...ENGINE_NAMES, 'auto'];
  return new Option('--engine <name>', 'engine that produced the output (default: as recorded in the folder)').choices(
    names,
  );
}

/** A damaged folder can cause one warning per line. */
const MAX_WARNINGS = 20;

/** Collects a run folder's warnings, for stderr. */
export function collectWarnings(): { readonly add: (warning: RunFolderWarning) => void; readonly text: () => string } {
  const lines: string[] = [];
  let omitted = 0;
  return {
    add({ code, message }) {
      if (lines.length < MAX_WARNINGS) lines.push(formatLine(`warning ${code}: ${message}`));
      else omitted += 1;
    },
    text: () =>
      lines.join('') +
      (omitted === 0 ? '' : formatLine(`${omitted} more ${omitted === 1 ? 'warning' : 'warnings'} omitted.`)),
  };
}
