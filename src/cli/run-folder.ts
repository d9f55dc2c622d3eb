import { Option } from 'commander';
import type { RunFolderWarning } from '../run-folder/index.js';
import { ENGINE_NAMES } from '../events/index.js';
import { tellLine } from './tell-line.js';

/** The option that names an engine, for the commands that read run folders. */
export function engineOption(): Option {
  const names = [...ENGINE_NAMES, 'auto'];
  return new Option('--engine <name>', 'who printed the bytes; by default the meta tells').choices(names);
}

/** A damaged folder can give a warning a line. */
const MAX_WARNINGS = 20;

/** Collects what a folder's reading has to say, for stderr. */
export function collectWarnings(): { readonly add: (warning: RunFolderWarning) => void; readonly text: () => string } {
  const lines: string[] = [];
  let more = 0;
  return {
    add({ code, message }) {
      if (lines.length < MAX_WARNINGS) lines.push(tellLine(`warning ${code}: ${message}`));
      else more += 1;
    },
    text: () => lines.join('') + (more === 0 ? '' : tellLine(`and ${more} warnings more`)),
  };
}
