import { useSignal } from '@preact/signals';
import { client } from '../../server/client.js';
import { saveAs } from '../run/download-artifact.js';
import { options, schemaText, text } from './workbench-state.js';

/** The longest text the server keeps as a case. */
const MAX_CHARACTERS = 1_000_000;

/** Saves text, schema and options as a case of a suite. */
export function CaseButton() {
  const said = useSignal<string | null>(null);
  const isPossible = text.value !== '' && text.value.length <= MAX_CHARACTERS;
  const save = async (): Promise<void> => {
    try {
      const name = `answer-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`;
      const { profile, allowPartial, align } = options.value;
      const schema =
        schemaText.value.trim() === ''
          ? undefined
          : (JSON.parse(schemaText.value) as Readonly<Record<string, unknown>>);
      const body = {
        name,
        text: text.value,
        profile,
        allow_partial: allowPartial,
        ...(schema === undefined ? {} : { schema, align }),
      };
      saveAs(`${name}.tar`, await client.exportTextCase({ body }));
      said.value = null;
    } catch (error) {
      said.value = error instanceof Error ? error.message : String(error);
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
        Test case
      </button>
      {said.value === null ? null : <span role="alert">Cannot make a test case: {said.value}</span>}
    </>
  );
}
