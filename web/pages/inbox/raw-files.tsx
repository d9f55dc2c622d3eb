import { useSignal } from '@preact/signals';
import { toPath } from '../../app/route.js';
import { client } from '../../data/client.js';
import { useResource } from '../../data/resource.js';
import { SafeText } from '../../ui/safe-text.js';
import { InlineFailure, Loading } from '../../ui/notice.js';
import { formatBytes } from '../../ui/format.js';
import { describeMissingFiles } from '../../ui/run-files.js';

/** The run's files: the order, the result and the output, unchanged. */
export function RawFiles({ run }: Readonly<{ run: string }>) {
  const files = useResource(`files ${run}`, async (signal) => client.listRunFiles({ id: run, signal }));
  const evidence = files.value?.evidence ?? [];
  const agentFiles = evidence.filter(({ name }) => isAgentFile(name));
  const recordFiles = evidence.filter(({ name }) => !isAgentFile(name));
  return (
    <section class="card raw-files" aria-label="Raw files">
      <div class="row">
        <h2>Raw files</h2>
        <a class="end" href={toPath({ page: 'run', id: run })}>
          Open the run
        </a>
      </div>
      {agentFiles.map((file) => (
        <File key={file.name} run={run} {...file} />
      ))}
      {recordFiles.length === 0 ? null : (
        <details>
          <summary>Files written by Sluice ({recordFiles.length})</summary>
          {recordFiles.map((file) => (
            <File key={file.name} run={run} {...file} />
          ))}
        </details>
      )}
      {files.value !== null && evidence.length === 0 ? (
        <SafeText as="p" class="dim" text={describeMissingFiles(files.value)} />
      ) : null}
      {files.failure === null ? null : <InlineFailure failure={files.failure} reload={files.reload} />}
    </section>
  );
}

function File({ run, name, size }: Readonly<{ run: string; name: string; size: number }>) {
  const isOpen = useSignal(false);
  return (
    <details onToggle={(event) => (isOpen.value = event.currentTarget.open)}>
      <summary>
        <code>{name}</code> <span class="dim">{formatBytes(size)}</span>
      </summary>
      {isOpen.value ? <Content run={run} name={name} /> : null}
    </details>
  );
}

function Content({ run, name }: Readonly<{ run: string; name: string }>) {
  const { value, failure, reload } = useResource(`evidence ${run} ${name}`, async (signal) =>
    client.readEvidence({ id: run, name, signal }),
  );
  if (failure !== null) return <InlineFailure failure={failure} reload={reload} />;
  if (value === null) return <Loading space="line" />;
  if (value.text === '') return <p class="dim">Empty file.</p>;
  return (
    <>
      <SafeText as="pre" text={value.text} />
      {value.totalBytes > DEFAULT_RANGE_BYTES ? (
        <p class="dim">
          Showing the first {formatBytes(DEFAULT_RANGE_BYTES)} of {formatBytes(value.totalBytes)}.
        </p>
      ) : null}
    </>
  );
}

/** The number of bytes the server sends when no range is requested. */
const DEFAULT_RANGE_BYTES = 1024 * 1024;

/** Whether a file was written by or for the agent; all others are Sluice's own records. */
export function isAgentFile(name: string): boolean {
  return /^(?:work_(?:order|result)\.|stdout\.|stderr\.|pty-output\.)/.test(name);
}
