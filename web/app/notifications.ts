import { signal } from '@preact/signals';
import type { WaitingEntry } from '../../src/api/index.js';
import { entryPath } from '../server/waiting.js';
import { navigate } from './router.js';

const KEY = 'sluice.notify';

/** Whether the browser supports notifications: only with https or on loopback. */
export const canNotify = typeof Notification === 'function' && isSecureContext;

/** Whether the person wants notifications of this browser. */
export const isNotifying = signal(canNotify && Notification.permission === 'granted' && readChoice());

/** Turns notifications on, after asking the browser, or off. */
export async function toggleNotifications(): Promise<void> {
  if (!canNotify) return;
  const isOn = !isNotifying.value && (await Notification.requestPermission()) === 'granted';
  isNotifying.value = isOn;
  try {
    localStorage.setItem(KEY, isOn ? 'on' : 'off');
  } catch {
    // Storage may be forbidden; then the choice lasts until the page is closed.
  }
}

/** More new entries than this are combined into one notification. */
const MAX_SEPARATE = 3;
const MAX_TEXT_LENGTH = 200;

/** Notifies of entries that begin to wait, if the person wants it and does not look at this page. */
export function notify(entries: readonly WaitingEntry[]): void {
  if (!isNotifying.value || !document.hidden) return;
  if (entries.length > MAX_SEPARATE)
    return show('Sluice', `${entries.length} new entries are waiting for you.`, 'many', '/inbox');
  for (const entry of entries) {
    show(TITLES[entry.kind], entry.text.slice(0, MAX_TEXT_LENGTH), entry.id, entryPath(entry));
  }
}

const TITLES: Readonly<Record<WaitingEntry['kind'], string>> = {
  question: 'An agent has a question',
  permission: 'An agent asks for permission',
  sink: 'A sink is failing',
  result: 'A result is waiting for review',
};

/** Several tabs give one notification: those of the same tag replace each other. */
function show(title: string, body: string, tag: string, path: string): void {
  const shown = new Notification(title, { body, tag: `sluice ${tag}` });
  shown.addEventListener('click', () => {
    window.focus();
    navigate(path);
    shown.close();
  });
}

function readChoice(): boolean {
  try {
    return localStorage.getItem(KEY) === 'on';
  } catch {
    return false;
  }
}
