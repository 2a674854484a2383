//! A picture, where the documentation looks for it.

import type { Page } from '@playwright/test';
import { mkdir } from 'node:fs/promises';

const FOLDER = new URL('../../docs/images/', import.meta.url).pathname;

export interface Look {
  width?: number;
  height?: number;
  theme?: 'light' | 'dark';
}

/** Takes a picture of what is seen. */
export async function picture(page: Page, name: string, { width = 1280, height = 800, theme = 'light' }: Look = {}): Promise<void> {
  await mkdir(FOLDER, { recursive: true });
  await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
  await page.setViewportSize({ width, height });
  // Charts and drawings take their new measures after that, and nothing is pointed at.
  await page.mouse.move(0, height - 1);
  await page.waitForTimeout(600);
  await page.screenshot({ path: `${FOLDER}explorer-${name}.png`, animations: 'disabled', caret: 'hide' });
}
