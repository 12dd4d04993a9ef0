-- tried for Neovim 0.11 and later: copy to ~/.config/nvim/lsp/tried.lua and add vim.lsp.enable('tried') to your init.lua

-- `gx` on the id of a run opens the run's page on the web, else a page about its record. Elsewhere it is as ever.
local function open_run(client, buffer)
  local row, column = unpack(vim.api.nvim_win_get_cursor(0))
  local params = { textDocument = vim.lsp.util.make_text_document_params(buffer) }
  local answer = client:request_sync('textDocument/documentLink', params, 2000, buffer) or {}
  for _, link in ipairs(answer.result or {}) do
    local from, to = link.range.start, link.range['end'] -- columns in bytes: Neovim is served in utf-8
    if from.line == row - 1 and from.character <= column and column < to.character then
      if vim.startswith(link.target, 'file:') then
        return vim.cmd.edit(vim.fn.fnameescape(vim.uri_to_fname(link.target)))
      end
      return vim.ui.open(link.target)
    end
  end
  vim.ui.open(vim.fn.expand('<cfile>'))
end

return {
  cmd = { 'tried', 'serve' },
  filetypes = { 'yaml', 'json', 'jsonc', 'toml', 'python', 'sh', 'env', 'dotenv' },
  root_markers = { 'tried.toml', '.tried', '.soma', 'results.tsv', '.git' },
  -- Your own settings, in the words of docs/settings.md, for instance:
  -- settings = { tried = { editor = { debounce_ms = 300 }, findings = { severity = { near = 'hover' } } } },
  settings = { tried = {} },
  handlers = {
    -- The line above the first entry follows what the server has looked at. Without a config there is none.
    ['tried/didAnalyse'] = function(_, params)
      local buffer = vim.uri_to_bufnr(params.uri)
      if params.isConfig and vim.api.nvim_buf_is_loaded(buffer) then vim.lsp.codelens.refresh({ bufnr = buffer }) end
    end,
  },
  on_attach = function(client, buffer)
    vim.keymap.set('n', 'gx', function() open_run(client, buffer) end, { buffer = buffer, desc = 'Open run or link' })
  end,
}
