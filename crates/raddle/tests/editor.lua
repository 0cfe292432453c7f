-- Drives Neovim for editor.rs: opens a file, sees the race underlined, repairs it, sees it go.
-- The environment has: SNIPPET (editors/neovim/raddle.lua), RADDLE (the command), and FILE (the program).

local PATIENCE = 120 * 1000

local function fail(what)
  local shown = vim.inspect(vim.diagnostic.get(0))
  io.stderr:write('FAILED: ' .. what .. '\nshown: ' .. shown .. '\n')
  vim.cmd 'cquit 1'
end

local function wait_for(what, holds)
  if not vim.wait(PATIENCE, holds, 20) then
    fail(what)
  end
  io.stderr:write('ok: ' .. what .. '\n')
end

-- The lines, from 1, that the editor draws an underline in.
local function underlined()
  local lines, seen = {}, {}
  for _, namespace in pairs(vim.diagnostic.get_namespaces()) do
    local own = namespace.user_data.underline_ns
    for _, mark in ipairs(own and vim.api.nvim_buf_get_extmarks(0, own, 0, -1, {}) or {}) do
      if not seen[mark[2]] then
        seen[mark[2]] = true
        table.insert(lines, mark[2] + 1)
      end
    end
  end
  table.sort(lines)
  return table.concat(lines, ' ')
end

local function main()
  dofile(vim.env.SNIPPET).setup { cmd = { vim.env.RADDLE, 'lsp' } }
  vim.cmd 'filetype on'
  vim.cmd('edit ' .. vim.env.FILE)

  wait_for('the race is underlined at both ends', function()
    return underlined() == '7 14'
  end)
  local shown = vim.diagnostic.get(0)[1]
  if not shown.message:match '^data race on `count`' or shown.source ~= 'raddle' then
    fail 'the diagnostic says what it is'
  end

  local document = vim.lsp.util.make_text_document_params(0)
  wait_for('the function that starts a thread has a lens', function()
    local answers = vim.lsp.buf_request_sync(0, 'textDocument/codeLens', { textDocument = document }, PATIENCE)
    local lenses = answers and answers[1] and answers[1].result or {}
    return lenses[1] and lenses[1].command.title:match '^checked, 2 threads, %d+ interleaving' ~= nil
  end)

  -- `count = 2` goes behind the join, as a person would do it.
  vim.cmd 'normal! 14Gddp'
  wait_for('the repaired race is gone', function()
    return underlined() == '' and #vim.diagnostic.get(0) == 0
  end)

  vim.cmd 'silent normal! u'
  wait_for('it comes back with undo', function()
    return underlined() == '7 14'
  end)

  -- The quick fix, by the editor's own means.
  vim.api.nvim_win_set_cursor(0, { 7, 4 })
  local params = vim.lsp.util.make_range_params()
  params.context = { diagnostics = {} }
  local answers = vim.lsp.buf_request_sync(0, 'textDocument/codeAction', params, PATIENCE)
  vim.lsp.util.apply_workspace_edit(answers[1].result[1].edit, 'utf-16')
  local line = vim.api.nvim_buf_get_lines(0, 6, 7, true)[1]
  if not line:match '// raddle: ignore %w+' then
    fail('the quick fix marks the line: ' .. line)
  end
  wait_for('the ignored race is gone', function()
    return underlined() == '' and #vim.diagnostic.get(0) == 0
  end)

  -- Not saved: all of this was in the buffer.
  if not vim.bo.modified then
    fail 'the buffer was not saved'
  end
  vim.cmd 'qall!'
end

local ok, why = pcall(main)
if not ok then
  fail(tostring(why))
end
