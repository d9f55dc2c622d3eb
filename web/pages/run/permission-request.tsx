import type { FcmpData } from '../../../src/events/index.js';
import { JsonTree } from '../../ui/json-tree.js';
import { SafeText } from '../../ui/safe-text.js';
import { FileChanges } from './file-change-view.js';
import { readFileChanges } from './file-changes.js';

type PermissionData = FcmpData<'permission.required'>;

/** The action an agent requests permission for: the command, the change as a diff, or the tool input. */
export function PermissionRequest({
  prompt,
  tool,
  input,
  diff = [],
}: {
  /** Shown if the tool is not known. */
  readonly prompt: string;
  readonly tool?: PermissionData['tool'];
  readonly input?: PermissionData['input'];
  readonly diff?: PermissionData['diff'] | undefined;
}) {
  if (tool === undefined) {
    return (
      <p class="permission-text">
        <SafeText text={prompt.slice(0, 2000)} />
      </p>
    );
  }
  const changes = readFileChanges(input, diff);
  const command = readCommand(input);
  return (
    <div class="permission-request">
      <p>
        Allow{' '}
        <strong>
          <SafeText text={tool} limit={200} />
        </strong>
        ?
      </p>
      {command === null ? null : (
        <pre class="permission-command">
          <SafeText text={command} limit={4000} />
        </pre>
      )}
      <FileChanges changes={changes} />
      {command !== null || changes.length > 0 ? null : <JsonTree value={input} />}
    </div>
  );
}

/** Returns the command line that a tool would run, or null. */
function readCommand(input: unknown): string | null {
  if (typeof input !== 'object' || input === null || !('command' in input)) return null;
  const { command } = input;
  if (typeof command === 'string') return command;
  return Array.isArray(command) ? command.map(String).join(' ') : null;
}
