//! Light or dark, as the reader or the system has it.

import { computed, effect, signal } from '@preact/signals';

export type ThemeChoice = 'light' | 'dark' | 'system';

const KEY = 'armilla.theme';
const dark = matchMedia('(prefers-color-scheme: dark)');
const isSystemDark = signal(dark.matches);
dark.addEventListener('change', () => {
  isSystemDark.value = dark.matches;
});

function kept(): ThemeChoice {
  const value = localStorage.getItem(KEY);
  return value === 'light' || value === 'dark' ? value : 'system';
}

/** What the reader chose. */
export const themeChoice = signal<ThemeChoice>(kept());

/** What is shown. */
export const theme = computed<'light' | 'dark'>(() => {
  const choice = themeChoice.value;
  return choice === 'system' ? (isSystemDark.value ? 'dark' : 'light') : choice;
});

effect(() => {
  document.documentElement.dataset['theme'] = theme.value;
});

export function chooseTheme(choice: ThemeChoice): void {
  themeChoice.value = choice;
  localStorage.setItem(KEY, choice);
}
