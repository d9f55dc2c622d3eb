import { useSignal } from '@preact/signals';
import { client } from '../../server/client.js';
import { saveAs } from '../run/download-artifact.js';
import { buildCaseRequest } from './case-request.js';
import { options, schemaText, text } from './workbench-state.js';

/** The maximum input length that the server accepts as a case. */
const MAX_CHARACTERS = 1_000_000;

/** A button that downloads input, schema and options as a suite case. */
export function CaseButton() {
  const failure = useSignal<string | null>(null);
  const isPossible = text.value !== '' && text.value.length <= MAX_CHARACTERS;
  const save = async (): Promise<void> => {
    try {
      const name = `answer-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`;
      const body = buildCaseRequest(name, { text: text.value, schemaText: schemaText.value, options: options.value });
      saveAs(`${name}.tar`, await client.exportTextCase({ body }));
      failure.value = null;
    } catch (error) {
      failure.value = error instanceof Error ? error.message : String(error);
    }
  };
  return (
    <>
      <button
        type="button"
        disabled={!isPossible}
        title="Download a .tar to unpack in your suite folder, sluice-suite"
        onClick={() => void save()}
      >
        Save as test case
      </button>
      {failure.value === null ? null : <span role="alert">Cannot create a test case: {failure.value}</span>}
    </>
  );
}
