import { loadPageTexts } from '../../app/texts.js';

export const t = await loadPageTexts(
  async () => import('./texts.en.js'),
  async () => import('./texts.zh-CN.js'),
);
