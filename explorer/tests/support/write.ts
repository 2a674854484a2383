import type { Page } from '@playwright/test';

/** Replaces what stands in the editor with a label. */
export async function write(page: Page, label: string, text: string): Promise<void> {
  await page.locator(`.cm-content[aria-label="${label}"]`).click();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.insertText(text);
}
