import { Button } from '../../ui/parts.js';
import { isObject } from '../../app/storage.js';
import { client } from '../../data/client.js';
import { useAction } from '../../data/resource.js';
import { saveAs } from '../run/artifact.js';
import type { Client } from '../../../src/server/client/index.js';
import type { InspectionInput } from './inspection.js';
import { Workbench } from './workbench.js';
import { inputText, parseOptions, schemaInput } from './workbench-state.js';
import { t } from './texts.js';

/** The workbench of the console, which can also save the input as a test case. */
export function WorkbenchPage() {
  return (
    <Workbench title={t.pages.workbench} server={location.origin}>
      <CaseButton />
    </Workbench>
  );
}

const MAX_CHARACTERS = 1_000_000;

function CaseButton() {
  const isPossible = inputText.value !== '' && inputText.value.length <= MAX_CHARACTERS;
  const save = useAction(async () => {
    const name = `answer-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`;
    const input = { text: inputText.value, schemaText: schemaInput.value, options: parseOptions.value };
    saveAs(`${name}.tar`, await client.exportTextCase({ body: buildCaseRequest(name, input) }));
  });
  return (
    <>
      <Button label={t.saveAsTestCase} disabled={!isPossible} title={t.downloadATarToUnpack} onClick={save.run} />
      {save.failure === null ? null : (
        <span role="alert">
          {t.cannotCreateATestCase}
          {save.failure}
        </span>
      )}
    </>
  );
}

type CaseBody = Parameters<Client['exportTextCase']>[0]['body'];

/** Builds the request for a suite case; throws if the case would have another result than the page. */
export function buildCaseRequest(name: string, input: InspectionInput): CaseBody {
  const { profile, allowPartial, align, ambiguous } = input.options;
  if (ambiguous !== null) {
    throw new Error(t.aCaseHasNoOption);
  }
  const body = { name, text: input.text, profile, allow_partial: allowPartial };
  return input.schemaText.trim() === '' ? body : { ...body, schema: parseSchema(input.schemaText), align };
}

function parseSchema(schemaText: string): Readonly<Record<string, unknown>> {
  let schema: unknown;
  try {
    schema = JSON.parse(schemaText);
  } catch (cause) {
    throw new Error(t.theSchemaIsNotValid, { cause });
  }
  if (!isObject(schema)) throw new Error(t.theSchemaMustBeAn);
  return schema;
}
