import { useEffect, useId, useRef } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import { useSignal } from '@preact/signals';
import { Notice, Button, CopyButton, Badge, isProfile, RepairLevel } from '../../ui/parts.js';
import { CodePanel, ShareButton } from './code-panel.js';
import { explain, Findings, ValueRowsView } from './findings.js';
import { StreamPanel } from './stream-panel.js';
import { ExampleSelect, TextPane } from './text-pane.js';
import { useInspection, type InspectionHandle, type InspectionState } from './use-inspection.js';
import { storeTexts, parseOptions, setOptions, schemaInput, openCase, readCase } from './workbench-state.js';
import { SafeText, formatDuration, formatCount } from '../../ui/text.js';
import type { Inspection, SchemaProblem } from './inspection.js';
import { SCHEMA_EXAMPLES } from './examples.js';
import { findLineAndColumn } from './locate-path.js';
import { getErrorMessage } from '../../../src/base/index.js';
import './workbench.css';
import { t } from './texts.js';

/** The workbench of the console, and of the playground of the site. `server`: the URL in the code for HTTP. */
export function Workbench(props: Readonly<{ title: string; server: string; children?: ComponentChildren }>) {
  const state = useInspection();
  const { reading } = state;
  useEffect(storeTexts, []);
  return (
    <div class="workbench stack">
      <div class="page-head">
        <h1>{props.title}</h1>
        <OptionsForm />
        <span class="end">
          <ShareButton read={readCase} open={openCase} />
        </span>
      </div>
      {state.failure === null ? null : (
        <Notice tone="bad" title={t.cannotParseTheOutput} action={{ label: t.tryAgain, run: state.retry }}>
          {state.failure}
        </Notice>
      )}
      <div class="bench">
        <div class="inputs">
          <TextPane reading={reading} />
          <SchemaEditor problem={state.schemaProblem} />
        </div>
        <div class={state.busy ? 'results stale' : 'results'}>
          <OutcomeBar state={state} />
          <Value state={state} />
          <section class="card pane" aria-labelledby="workbench-found">
            <h2 id="workbench-found">{t.findings}</h2>
            <div class="body findings" tabIndex={0} role="group" aria-label={t.entries}>
              {reading === null || reading.text === '' ? null : <Findings inspection={reading.inspection} />}
            </div>
          </section>
        </div>
      </div>
      <StreamPanel reading={reading} fail={state.fail} />
      <OtherParsers state={state} />
      <CodePanel server={props.server}>{props.children}</CodePanel>
    </div>
  );
}

function Value({ state: { reading, fail } }: { readonly state: InspectionHandle }) {
  const value = reading?.inspection.value ?? null;
  const formatValue = async (): Promise<string> => {
    const text = await reading?.formatValue().catch(fail);
    if (typeof text !== 'string') throw new Error(t.noValueToCopy);
    return text;
  };
  return (
    <section class="card pane" aria-labelledby="workbench-value">
      <div class="row">
        <h2 id="workbench-value">
          {value !== null && reading?.inspection.outcome.status === 'failed' ? t.rejectedValue : t.value}
        </h2>
        {value === null ? null : (
          <span class="end">
            <CopyButton label={t.copy} read={formatValue} />
          </span>
        )}
      </div>
      {value === null ? (
        <p class="dim body">{reading === null || reading.text === '' ? '' : t.noValueFoundTheFindings}</p>
      ) : (
        <ValueRowsView value={value} label={t.theValueLineByLine} />
      )}
    </section>
  );
}

function OptionsForm() {
  const { profile, ambiguous } = parseOptions.value;
  return (
    <form class="options-form" aria-label={t.options} onSubmit={(event) => event.preventDefault()}>
      <label>
        {t.profile}
        <select
          value={profile}
          aria-describedby="workbench-profile-help"
          onChange={({ currentTarget: { value } }) => isProfile(value) && setOptions({ profile: value })}
        >
          {Object.keys(t.profiles).map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      <OptionWithHelp help={t.whichValueIsReturnedIf}>
        {(id) => (
          <>
            {t.ifAmbiguous}
            <select
              value={ambiguous ?? ''}
              aria-describedby={id}
              onChange={({ currentTarget: { value } }) =>
                setOptions({ ambiguous: value === 'first' || value === 'last' ? value : null })
              }
            >
              <option value="">{t.fail}</option>
              <option value="first">{t.firstValue}</option>
              <option value="last">{t.lastValue}</option>
            </select>
          </>
        )}
      </OptionWithHelp>
      {CHECKBOXES.map(({ name, label, help }) => (
        <OptionWithHelp key={name} help={help}>
          {(id) => (
            <>
              <input
                type="checkbox"
                checked={parseOptions.value[name]}
                aria-describedby={id}
                onChange={({ currentTarget: { checked } }) => setOptions({ [name]: checked })}
              />
              {label}
            </>
          )}
        </OptionWithHelp>
      ))}
      <p class="help" id="workbench-profile-help">
        {t.profiles[profile]}
      </p>
    </form>
  );
}

const CHECKBOXES = [
  { name: 'allowPartial', label: t.allowPartial, help: t.acceptATruncatedValue },
  { name: 'align', label: t.align, help: t.fixNearMissesToMatch },
] as const;

/** A control with an explanation, which is its tooltip and is read by screen readers. */
function OptionWithHelp({ help, children }: Readonly<{ help: string; children: (id: string) => ComponentChildren }>) {
  const id = useId();
  return (
    <span class="explained-by" title={help}>
      <label>{children(id)}</label>
      <span class="visually-hidden" id={id}>
        {help}
      </span>
    </span>
  );
}

function OutcomeBar({ state }: Readonly<{ state: InspectionState }>) {
  const { reading, busy, schemaProblem } = state;
  return (
    <div class="outcome row" role="status" aria-busy={busy}>
      {reading === null ? (
        <span class="dim">{busy ? t.parsing : t.notParsed}</span>
      ) : reading.text === '' ? (
        <span class="dim">{t.noOutputYet}</span>
      ) : (
        <Outcome inspection={reading.inspection} />
      )}
      {schemaProblem === null ? null : <Badge tone="bad">{t.invalidSchemaShowingThePrevious}</Badge>}
      {reading === null || reading.suggestions.length === 0 ? null : (
        <span class="row suggestions" role="group" aria-label={t.suggestedOptions}>
          <span class="dim">{t.wouldWorkWith}</span>
          {reading.suggestions.map(({ name, changes }) => (
            <Button
              label={t.suggestions[name][0]}
              key={name}
              title={t.suggestions[name][1]}
              onClick={() => setOptions(changes)}
            />
          ))}
        </span>
      )}
      <span class="end dim" aria-hidden="true">
        {busy ? t.parsing : reading === null ? '' : formatDuration(reading.tookMs)}
      </span>
    </div>
  );
}

function Outcome({ inspection: { outcome, repairs } }: { readonly inspection: Inspection }) {
  switch (outcome.status) {
    case 'success':
      return (
        <>
          <Badge tone="good">{t.states.success}</Badge>
          <RepairLevel level={outcome.repairLevel} kinds={repairs.items.map(({ kind }) => kind)} />
        </>
      );
    case 'failed':
      return (
        <>
          <Badge tone="bad">{t.states.failed}</Badge>
          <Badge tone="bad">{outcome.code}</Badge>
          <SafeText as="span" class="words clip" text={outcome.message} limit={500} />
        </>
      );
    case 'comment':
      return (
        <>
          <Badge>{t.states.comment}</Badge>
          <span class="words">{t.reported.NO_TAG}</span>
        </>
      );
  }
}

function SchemaEditor({ problem }: Readonly<{ problem: SchemaProblem | null }>) {
  const field = useRef<HTMLTextAreaElement>(null);
  const goTo = (offset: number): void => {
    field.current?.focus();
    field.current?.setSelectionRange(offset, Math.min(offset + 1, schemaInput.value.length));
  };
  return (
    <section class="card pane" aria-label={t.schema}>
      <div class="row">
        <h2>
          <label for="workbench-schema">{t.jsonSchema}</label>
        </h2>
        <span class="end row">
          <ExampleSelect
            id="workbench-schema-example"
            label={t.exampleSchema}
            title={t.schemas}
            examples={SCHEMA_EXAMPLES}
            onChoose={({ schemaText }) => (schemaInput.value = schemaText)}
          />
        </span>
      </div>
      <textarea
        ref={field}
        id="workbench-schema"
        class="mono body"
        spellcheck={false}
        autocomplete="off"
        placeholder={t.draft202012IfEmpty}
        aria-invalid={problem !== null}
        aria-describedby="workbench-schema-problem"
        value={schemaInput.value}
        onInput={({ currentTarget }) => (schemaInput.value = currentTarget.value)}
      />
      <p class={problem === null ? 'help' : 'help wrong'} id="workbench-schema-problem" role="status">
        {problem === null ? t.theSchemaDecidesWhichCandidate : explain(problem.message)}
        {problem !== null && problem.offset !== null ? (
          <>
            {' '}
            <Button
              label={t.place(...findLineAndColumn(schemaInput.value, problem.offset))}
              class="link"
              onClick={() => goTo(problem.offset ?? 0)}
            />
          </>
        ) : null}
      </p>
    </section>
  );
}

const OUTCOME_LABELS = {
  same: { tone: 'good', label: t.sameValue },
  different: { tone: 'plain', label: t.differentValue },
  error: { tone: 'bad', label: t.error },
} as const;

/** The results of `JSON.parse` and jsonrepair for the same input, computed when the panel is opened. */
function OtherParsers({ state }: Readonly<{ state: InspectionHandle }>) {
  const isOpen = useSignal(false);
  const readings = useSignal<readonly OtherResult[]>([]);
  const { reading } = state;
  const text = reading?.text ?? '';
  const isTooLong = text.length > MAX_TEXT_LENGTH;
  useEffect(() => {
    if (!isOpen.value || reading === null || isTooLong) return;
    let isWanted = true;
    const compare = async (): Promise<void> => {
      const value = reading.inspection.value === null ? null : await reading.formatValue();
      const { jsonrepair } = await import('jsonrepair');
      if (!isWanted) return;
      readings.value = [
        parseWith('JSON.parse', JSON.parse, text, value),
        parseWith('jsonrepair', (input) => JSON.parse(jsonrepair(input)) as unknown, text, value),
      ];
    };
    compare().catch(state.fail);
    return () => {
      isWanted = false;
    };
  }, [isOpen.value, reading]);
  return (
    <details class="card" onToggle={({ currentTarget }) => (isOpen.value = currentTarget.open)}>
      <summary>
        <strong>{t.otherParsers}</strong> <span class="dim">{t.resultsOfJsonParseAnd}</span>
      </summary>
      {isTooLong ? (
        <p class="dim">{t.comparedLength(formatCount(MAX_TEXT_LENGTH))}</p>
      ) : (
        <div class="other-parsers">
          {readings.value.map(({ parser, outcome, text: shown }) => (
            <section key={parser} class="stack" aria-label={parser}>
              <div class="row">
                <h2>{parser}</h2>
                <Badge tone={OUTCOME_LABELS[outcome].tone}>{OUTCOME_LABELS[outcome].label}</Badge>
              </div>
              <pre class="code" tabIndex={0} role="region" aria-label={t.resultOf(parser)}>
                <SafeText text={shown} />
              </pre>
            </section>
          ))}
        </div>
      )}
    </details>
  );
}

type OtherResult = ReturnType<typeof parseWith>;

/** Longer input would block the page, because these parsers do not run in the worker. */
const MAX_TEXT_LENGTH = 20_000;
const MAX_OUTPUT_LENGTH = 4000;

export function parseWith(
  parser: 'JSON.parse' | 'jsonrepair',
  parse: (text: string) => unknown,
  text: string,
  sluiceValue: string | null,
) {
  try {
    const value = parse(text);
    const isSame = sluiceValue !== null && JSON.stringify(value) === JSON.stringify(JSON.parse(sluiceValue));
    const outcome = isSame ? ('same' as const) : ('different' as const);
    return { parser, outcome, text: shorten(JSON.stringify(value, null, 2) ?? '') };
  } catch (error) {
    return { parser, outcome: 'error' as const, text: shorten(getErrorMessage(error)) };
  }
}

function shorten(text: string): string {
  return text.length > MAX_OUTPUT_LENGTH ? `${text.slice(0, MAX_OUTPUT_LENGTH)} …` : text;
}
