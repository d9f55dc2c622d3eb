import { SafeText } from '../../ui/safe-text.js';
import type { FileChange } from './file-changes.js';
import '../../ui/diff.css';

/** The number of lines shown initially. */
const INITIAL_LINES = 12;

const SIGNS = { same: ' ', added: '+', removed: '−' } as const;

/** A tool call's changes, file by file. */
export function FileChanges({ changes }: { readonly changes: readonly FileChange[] }) {
  return (
    <>
      {changes.map((change, index) => (
        <div key={index} class="file-change">
          <code>
            <SafeText text={change.path} limit={300} />
          </code>
          <Lines change={change} from={0} to={INITIAL_LINES} />
          {change.lines.length > INITIAL_LINES ? (
            <details>
              <summary>{change.lines.length - INITIAL_LINES} more lines</summary>
              <Lines change={change} from={INITIAL_LINES} to={change.lines.length} />
            </details>
          ) : null}
        </div>
      ))}
    </>
  );
}

function Lines({ change, from, to }: { readonly change: FileChange; readonly from: number; readonly to: number }) {
  return (
    <div class="hunk">
      {change.lines.slice(from, to).map(({ kind, text }, index) => (
        <div key={index} class={`diff-line plain ${kind}`}>
          <span class="sign" aria-hidden="true">
            {SIGNS[kind]}
          </span>
          <code>
            {kind === 'same' ? null : <span class="visually-hidden">{kind}: </span>}
            <SafeText text={text} limit={1000} />
          </code>
        </div>
      ))}
    </div>
  );
}
