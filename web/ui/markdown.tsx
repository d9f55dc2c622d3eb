import { createElement, type ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { useSignal } from '@preact/signals';
import { readBlocks, type Block, type Inline } from './markdown-blocks.js';
import { SafeText } from './text.js';
import { Button } from './parts.js';
import './markdown.css';
import { t } from '../app/texts.js';

/** Longer messages are shown as plain text, because parsing them would block the page. */
const MAX_TEXT_LENGTH = 20_000;

/** Renders an agent's message as Markdown. HTML and images are shown as text, and links open only after a confirmation. */
export function Markdown({ text }: Readonly<{ text: string }>) {
  const blocks = useMemo(() => (text.length > MAX_TEXT_LENGTH ? null : readBlocks(text)), [text]);
  if (blocks === null) return <SafeText text={text} />;
  return <div class="markdown">{blocks.map(drawBlock)}</div>;
}

function drawBlock(block: Block, index: number): ComponentChildren {
  switch (block.kind) {
    case 'paragraph':
      return <p key={index}>{block.children.map(drawInline)}</p>;
    case 'heading':
      // Not a heading element, so messages do not change the page outline.
      return (
        <p key={index} class={`markdown-heading level-${Math.min(block.level, 3)}`}>
          {block.children.map(drawInline)}
        </p>
      );
    case 'code':
      return (
        <pre key={index}>
          {block.language === '' ? null : (
            <SafeText as="span" class="markdown-language" text={block.language} limit={60} />
          )}
          <SafeText as="code" text={block.text} />
        </pre>
      );
    case 'quote':
      return <blockquote key={index}>{block.blocks.map(drawBlock)}</blockquote>;
    case 'list': {
      // The first paragraph of an item needs no element.
      const draw = (inner: Block, at: number): ComponentChildren =>
        at === 0 && inner.kind === 'paragraph' ? inner.children.map(drawInline) : drawBlock(inner, at);
      const items = block.items.map((blocks, item) => <li key={item}>{blocks.map(draw)}</li>);
      return block.first === null ? (
        <ul key={index}>{items}</ul>
      ) : (
        <ol key={index} start={block.first}>
          {items}
        </ol>
      );
    }
    case 'table':
      return <MarkdownTable key={index} rows={block.rows} />;
    case 'rule':
      return <hr key={index} />;
  }
}

function MarkdownTable({ rows }: Readonly<{ rows: readonly (readonly (readonly Inline[])[])[] }>) {
  const [head = [], ...body] = rows;
  return (
    <div class="table-scroll">
      <table>
        <thead>
          <tr>
            {head.map((cell, index) => (
              <th key={index} scope="col">
                {cell.length === 0 ? (
                  <span class="visually-hidden">
                    {t.column}
                    {index + 1}
                  </span>
                ) : (
                  cell.map(drawInline)
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {body.map((cells, row) => (
            <tr key={row}>
              {cells.map((cell, index) => (
                <td key={index}>{cell.map(drawInline)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function drawInline(inline: Inline, index: number): ComponentChildren {
  if (typeof inline === 'string') return <SafeText key={index} text={inline} />;
  switch (inline.kind) {
    case 'strong':
    case 'em':
    case 's':
      return createElement(inline.kind, { key: index }, inline.children.map(drawInline));
    case 'code':
      return (
        <code key={index}>
          <SafeText text={inline.text} />
        </code>
      );
    case 'link':
      return (
        <AgentLink key={index} address={inline.address}>
          {inline.children.map(drawInline)}
        </AgentLink>
      );
    case 'image':
      return (
        <span key={index} class="markdown-image">
          {t.image}
          {inline.children.map(drawInline)} (<SafeText text={inline.address} limit={200} />)
        </span>
      );
  }
}

/** A link in an agent's message. It opens only after a confirmation that shows the real target. */
function AgentLink({ address, children }: Readonly<{ address: string; children?: ComponentChildren }>) {
  const isConfirming = useSignal(false);
  const target = resolveWebAddress(address);
  const hasText = Array.isArray(children) && children.length > 0;
  const open = (to: string): void => {
    window.open(to, '_blank', 'noopener,noreferrer');
    isConfirming.value = false;
  };
  return (
    <span class="agent-link">
      {children}
      {hasText ? ' ' : null}
      <SafeText as="span" class="agent-address" text={address} limit={300} />{' '}
      {target === null ? null : isConfirming.value ? (
        <span class="agent-question" role="group" aria-label={t.openTheLink}>
          <SafeText text={t.openTarget(target)} limit={300} />{' '}
          <Button label={t.openInANewTab} onClick={() => open(target)} />{' '}
          <Button label={t.cancel} onClick={() => (isConfirming.value = false)} />
        </span>
      ) : (
        <Button
          label={t.open}
          class="link"
          aria-label={t.openAddress(target.slice(0, 100))}
          onClick={() => (isConfirming.value = true)}
        />
      )}
    </span>
  );
}

/** Resolves an address as the browser would, which exposes look-alike host names; null if it is not a web address. */
export function resolveWebAddress(address: string): string | null {
  if (!URL.canParse(address)) return null;
  const { protocol, href } = new URL(address);
  return protocol === 'http:' || protocol === 'https:' ? href : null;
}
