import type { ApprovalRule } from '../../../src/store/records/index.js';
import { hasScope } from '../../app/session.js';
import { client } from '../../data/client.js';
import { useResource } from '../../data/resource.js';
import { Badge } from '../../ui/badge.js';
import { Loaded, ReadOnly, type Tone } from '../../ui/notice.js';
import { RowTable, type Column } from '../../ui/row-table.js';
import { SafeText } from '../../ui/safe-text.js';
import { t } from './texts.js';

type Settings = Awaited<ReturnType<typeof client.readSettings>>;

/** A read-only page about a part of the configuration. */
function SettingsPage<Item>(props: {
  readonly title: string;
  readonly purpose: string;
  readonly select: (settings: Settings) => readonly Item[];
  readonly columns: readonly Column<Item>[];
  readonly empty: string;
  readonly hint: string;
}) {
  const { title, purpose, select, columns, empty, hint } = props;
  const canRead = hasScope('decide');
  const settings = useResource(`settings ${String(canRead)}`, async (signal) =>
    canRead ? client.readSettings({ signal }) : null,
  );
  return (
    <>
      <div class="page-head">
        <h1>{title}</h1>
      </div>
      {canRead ? (
        <Loaded resource={settings} title={t.cannotLoad(title)} space="list">
          {(value) =>
            value === null || select(value).length === 0 ? (
              <div class="card empty">
                <strong>{empty}</strong>
                <p>{hint}</p>
              </div>
            ) : (
              <div class="stack">
                <p class="help">{hint}</p>
                <RowTable columns={columns} items={select(value)} getKey={(item) => JSON.stringify(item)} />
              </div>
            )
          }
        </Loaded>
      ) : (
        <ReadOnly scope="decide" purpose={purpose} />
      )}
    </>
  );
}

const RULE_TONES: Readonly<Record<ApprovalRule['decide'], Tone>> = { allow: 'plain', deny: 'plain', ask: 'warn' };
const RULE_LABELS: Readonly<Record<ApprovalRule['decide'], string>> = { allow: t.allow, deny: t.deny, ask: t.ask };

const pattern = (text: string | undefined) =>
  text === undefined ? <span class="dim">{t.any}</span> : <SafeText as="code" text={text} limit={200} />;

type NumberedRule = ApprovalRule & { readonly number: number };

const RULE_COLUMNS: readonly Column<NumberedRule>[] = [
  { name: t.no, width: '4rem', isNumber: true, cell: ({ number }) => number },
  {
    name: t.decision,
    width: '7rem',
    cell: ({ decide }) => <Badge tone={RULE_TONES[decide]}>{RULE_LABELS[decide]}</Badge>,
  },
  { name: t.tool, width: '18%', cell: ({ tool }) => pattern(tool) },
  { name: t.command, width: '22%', cell: ({ command }) => pattern(command) },
  { name: t.path, width: '22%', cell: ({ path }) => pattern(path) },
  { name: t.reason, cell: ({ why }) => <SafeText text={why ?? ''} limit={300} /> },
];

/** The approval rules, in the order they are tried. */
export function RulesPage() {
  return (
    <SettingsPage
      title={t.approvalRules}
      purpose={t.readTheApprovalRules}
      select={({ approvals }) => approvals.map((rule, index) => ({ ...rule, number: index + 1 }))}
      columns={RULE_COLUMNS}
      empty={t.noApprovalRules}
      hint={t.theFirstRuleThatMatches}
    />
  );
}

const TOKEN_COLUMNS: readonly Column<Settings['tokens'][number]>[] = [
  { name: t.token, class: 'wide', cell: ({ name }) => <SafeText text={name} limit={100} /> },
  {
    name: t.scopes,
    width: '60%',
    cell: ({ scopes }) => (
      <span class="row">
        {scopes.map((scope) => (
          <Badge key={scope}>{scope}</Badge>
        ))}
      </span>
    ),
  },
];

/** The tokens and their scopes, without their values. */
export function TokensPage() {
  return (
    <SettingsPage
      title={t.tokens}
      purpose={t.seeTheTokens}
      select={({ tokens }) => tokens}
      columns={TOKEN_COLUMNS}
      empty={t.noTokens}
      hint={t.decisionsAreRecordedUnderThe}
    />
  );
}
