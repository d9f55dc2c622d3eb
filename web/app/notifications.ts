import { signal } from '@preact/signals';
import type { WaitingEntry } from '../../src/server/api/index.js';
import { getEntryPath, getEntryText } from '../data/waiting.js';
import { navigate } from './router.js';
import { readStored, writeStored } from './storage.js';
import { t } from './texts.js';

const KEY = 'sluice.notify';

/** Whether notifications are available: browsers offer them only over HTTPS or on loopback. */
export const canNotify = typeof Notification === 'function' && isSecureContext;

export const isNotifying = signal(canNotify && Notification.permission === 'granted' && readStored(KEY) === 'on');

/** Turns notifications on, after asking for permission, or off. */
export async function toggleNotifications(): Promise<void> {
  if (!canNotify) return;
  const isOn = !isNotifying.value && (await Notification.requestPermission()) === 'granted';
  isNotifying.value = isOn;
  writeStored(KEY, isOn ? 'on' : 'off');
}

/** Above this many new entries, a single notification covers all of them. */
const MAX_NOTIFICATIONS = 3;
const MAX_TEXT_LENGTH = 200;

/** Shows notifications for new entries if they are turned on and this page is hidden. */
export function notify(entries: readonly WaitingEntry[]): void {
  if (!isNotifying.value || !document.hidden) return;
  if (entries.length > MAX_NOTIFICATIONS)
    return show(t.sluice, t.newItemsAreWaitingFor(entries.length), 'many', '/inbox');
  for (const entry of entries) {
    show(t.waitingTitles[entry.kind], getEntryText(entry).slice(0, MAX_TEXT_LENGTH), entry.id, getEntryPath(entry));
  }
}

/** Shows a notification, once across all tabs: those with the same tag replace each other. */
function show(title: string, body: string, tag: string, path: string): void {
  try {
    const notification = new Notification(title, { body, tag: `sluice ${tag}` });
    notification.addEventListener('click', () => {
      window.focus();
      navigate(path);
      notification.close();
    });
  } catch {
    // Browsers on Android have the class but throw.
    isNotifying.value = false;
  }
}
